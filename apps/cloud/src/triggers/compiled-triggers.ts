/** Caches the parsed triggers of each part until the configuration's revision changes. */
import { getOrInsert, type Log } from '@platform/base';
import type { PartTriggers } from '../machines/configuration/triggers-of.ts';
import type { UploadInput } from './input.ts';
import { parseTriggers } from './parsing/parse-triggers.ts';
import type { Trigger } from './trigger.ts';

/** The enabled triggers of a part. */
export interface PartRules {
  /** Triggers that react to uploads of this component. */
  ofUpload(upload: Pick<UploadInput, 'metadata'>): readonly Trigger[];
  /** Triggers with a `timed` event. */
  readonly timed: readonly Trigger[];
  readonly all: readonly Trigger[];
}

export interface CompiledTriggers {
  /** Undefined: the part does not exist, or has no triggers. */
  of(partId: string): Promise<PartRules | undefined>;
}

const maxParts = 10_000;

export function createCompiledTriggers(options: {
  readonly configOf: (partId: string) => Promise<PartTriggers | undefined>;
  readonly log: Log;
}): CompiledTriggers {
  const { configOf, log } = options;
  const kept = new Map<string, { readonly revision: string; readonly rules: PartRules | undefined }>();

  const compile = (partId: string, config: PartTriggers): PartRules | undefined => {
    const known = kept.get(partId);
    if (known?.revision === config.revision) return known.rules;
    const { triggers, problems } = parseTriggers(config.triggers, config.components);
    for (const { path, level: severity, message } of problems) {
      log.warn('problem in the triggers of a part', { partId, path, severity, message });
    }
    const enabled = triggers.filter((trigger) => trigger.enabled);
    const rules = enabled.length === 0 ? undefined : rulesOf(enabled);
    if (kept.size >= maxParts) kept.clear();
    kept.set(partId, { revision: config.revision, rules });
    return rules;
  };

  return {
    async of(partId) {
      const config = await configOf(partId);
      return config && compile(partId, config);
    },
  };
}

/** Indexed by component, so that an upload costs nothing for triggers of other components, however many there are. */
function rulesOf(triggers: readonly Trigger[]): PartRules {
  const ofEach: Trigger[] = [];
  const ofComponent = new Map<string, Trigger[]>();
  for (const trigger of triggers) {
    const { uploads } = trigger.event;
    if (uploads === 'all') ofEach.push(trigger);
    else if (uploads !== undefined) getOrInsert(ofComponent, uploads.componentName, () => []).push(trigger);
  }
  return {
    ofUpload({ metadata: { componentName } }) {
      const own = ofComponent.get(componentName);
      if (own === undefined) return ofEach;
      return ofEach.length === 0 ? own : [...ofEach, ...own];
    },
    timed: triggers.filter(({ event }) => event.timed !== undefined),
    all: triggers,
  };
}

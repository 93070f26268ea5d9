/** Caches the parsed triggers of each part until the configuration's revision changes. */
import type { Log } from '@platform/base';
import { parseTriggers } from './parse-triggers.ts';
import type { Trigger } from './trigger.ts';

/** The parts of an effective configuration that triggers need. */
export interface PartTriggers {
  /** The `triggers` value as configured. */
  readonly triggers: unknown;
  /** Names of the configured components and services. */
  readonly components: readonly string[];
  /** Changes whenever the fields above change. */
  readonly revision: string;
}

export interface CompiledTriggers {
  /** Triggers that an upload can fire, for each of the parts that has any. */
  of(partIds: Iterable<string>): Promise<ReadonlyMap<string, readonly Trigger[]>>;
}

const maxParts = 10_000;

export function createCompiledTriggers(options: {
  readonly configOf: (partId: string) => Promise<PartTriggers | undefined>;
  readonly log: Log;
}): CompiledTriggers {
  const { configOf, log } = options;
  const kept = new Map<string, { readonly revision: string; readonly triggers: readonly Trigger[] }>();

  const compile = (partId: string, config: PartTriggers): readonly Trigger[] => {
    const known = kept.get(partId);
    if (known?.revision === config.revision) return known.triggers;
    const { triggers, problems } = parseTriggers(config.triggers, config.components);
    for (const { path, level: severity, message } of problems) {
      log.warn('problem in the triggers of a part', { partId, path, severity, message });
    }
    const firing = triggers.filter(firesOnUpload);
    if (kept.size >= maxParts) kept.clear();
    kept.set(partId, { revision: config.revision, triggers: firing });
    return firing;
  };

  return {
    async of(partIds) {
      const found = new Map<string, readonly Trigger[]>();
      for (const partId of new Set(partIds)) {
        const config = await configOf(partId);
        const triggers = config ? compile(partId, config) : [];
        if (triggers.length > 0) found.set(partId, triggers);
      }
      return found;
    },
  };
}

function firesOnUpload(trigger: Trigger): boolean {
  return trigger.enabled && trigger.event.ofUpload !== undefined && trigger.notifications.length > 0;
}

/** The triggers of a part as if others were saved in their place, with the problems that saving them would cause. */
import type { Problem } from '@platform/base';
import { readCapturedMethods } from '@platform/machine-config/data-policies';
import { problemsOf, type TriggerProblems } from './check-document.ts';
import type { EffectiveConfigurations } from './effective-configuration.ts';
import type { InstallationProblems } from './installation-problems.ts';
import { type PartTriggers, resourcesIn, triggersIn } from './triggers-of.ts';

export interface TriggersIfSaved {
  /** The given triggers, without those of fragments, which follow them in the configuration. */
  readonly config: PartTriggers;
  /** Problems of the triggers; paths as in the configuration of the part. */
  readonly problems: readonly Problem[];
}

export function createTriggersIfSaved(deps: {
  readonly documentOf: (partId: string) => Promise<unknown>;
  readonly effective: Pick<EffectiveConfigurations, 'effective'>;
  readonly triggerProblems: TriggerProblems;
  readonly installationProblems: InstallationProblems;
  readonly organizationOf: (partId: string) => string;
}): (partId: string, triggers: readonly unknown[]) => Promise<TriggersIfSaved> {
  return async (partId, triggers) => {
    const own = (await deps.documentOf(partId)) as Readonly<Record<string, unknown>> | undefined;
    const document = { ...own, triggers };
    const resolved = await deps.effective.effective(partId, document);
    const notHere = await deps.installationProblems(resolved, deps.organizationOf(partId), partId);
    const problems = problemsOf(document, resolved, deps.triggerProblems, notHere);
    const effective = resolved.document;
    return {
      config: {
        triggers: triggersIn(effective).slice(0, triggers.length),
        components: resourcesIn(effective),
        captured: readCapturedMethods(effective),
        revision: '',
      },
      problems: problems.filter(({ path }) => /^triggers(\[|$)/.test(path)),
    };
  };
}

/**
 * The parts of a valid configuration that this installation cannot run or deliver, as warnings with their paths. `config validate` and each
 * save report the same. A warning never prevents a save: the module or the setting may be added later. Only a push notification without
 * credentials is an error, because the specification requires them to be uploaded first.
 */
import type { Problem } from '@platform/base';
import { canonicalModel } from '@platform/machine-config/canonical-names';
import type { Effective } from './effective-configuration.ts';
import type { ServedPackages } from './served-packages.ts';

export type InstallationProblems = (
  effective: Effective,
  organizationId: string,
  partId: string,
) => Promise<readonly Problem[]>;

/**
 * Finds webhook targets that would be refused and notifications to owners of whom none has an address, as warnings, and push notifications
 * without credentials, as errors; implemented by the triggers feature.
 *
 * @param document effective, of any shape
 * @param partId undefined: a fragment of the organization
 */
export type TargetProblems = (
  document: unknown,
  organizationId: string,
  partId: string | undefined,
) => Promise<readonly Problem[]>;

export function createInstallationProblems(deps: {
  readonly packages: Pick<ServedPackages, 'problemsOf'>;
  readonly targetProblems: TargetProblems;
}): InstallationProblems {
  return async (effective, organizationId, partId) => [
    ...modelProblems(effective),
    ...(await deps.packages.problemsOf(effective.config, organizationId)),
    ...(await deps.targetProblems(effective.document, organizationId, partId)),
  ];
}

/** Models that are not built in, in a configuration without modules: nothing on the machine can build them. */
function modelProblems({ document, config }: Effective): Problem[] {
  if (config.modules.length > 0 || typeof document !== 'object' || document === null) return [];
  const problems: Problem[] = [];
  for (const [key, kind] of [
    ['components', 'component'],
    ['services', 'service'],
  ] as const) {
    const list = (document as Readonly<Record<string, unknown>>)[key];
    for (const [index, entry] of (Array.isArray(list) ? list : []).entries()) {
      const { model, disabled } = (entry ?? {}) as { readonly model?: unknown; readonly disabled?: unknown };
      if (typeof model !== 'string' || model === '' || disabled === true) continue;
      if (canonicalModel(model, kind).startsWith('core:builtin:')) continue;
      const message = `expected a built-in model, or modules that provide others, found ${JSON.stringify(model)} and no modules: nothing can build it`;
      problems.push({ path: `${key}[${index}].model`, level: 'warning', message });
    }
  }
  return problems;
}

/** Builds one resource, or reconfigures the running one in place. */
import type { Clock } from '@platform/base';
import type { ResourceConfig } from '@platform/machine-config/schema';
import type { Resource } from '@platform/resources';
import { type BuildContext, isReconfigurable, type Model } from './model.ts';
import { withTimeout } from './with-timeout.ts';

export interface Build {
  readonly config: ResourceConfig;
  readonly model: Model;
  readonly context: BuildContext;
  /** The running resource, and the model that built it. */
  readonly running: { readonly resource: Resource | undefined; readonly model: Model | undefined };
}

/**
 * The resource with its new configuration: the running one if it can change in place, otherwise a new one. @throws what the model throws,
 * deadline_exceeded
 */
export async function buildResource(
  { config, model, context, running: { resource: old, model: builtBy } }: Build,
  limitMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<Resource> {
  const built =
    old !== undefined && builtBy === model && isReconfigurable(old)
      ? old.reconfigure(config, context)
      : model.build(config, context);
  try {
    return await withTimeout(built, limitMs, `it was not built within ${limitMs} ms`, clock, signal);
  } catch (caught) {
    // A late result is no longer needed.
    built.then((resource) => (resource === old ? undefined : resource.close())).catch(() => {});
    throw caught;
  }
}

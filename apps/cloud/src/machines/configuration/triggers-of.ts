/**
 * The parts of a configuration that other features need: its triggers (for notifications), and the resource names that these may refer to.
 */
import { apiOf } from '@platform/machine-config/canonical-names';
import { type CapturedMethod, readCapturedMethods } from '@platform/machine-config/data-policies';
import type { CurrentConfiguration } from './current-configuration.ts';

/** A component or service of a configuration. */
export interface ConfiguredResource {
  readonly name: string;
  /** In the `core` vocabulary: `core:component:sensor`. Undefined: the document does not contain it. */
  readonly api: string | undefined;
}

export interface PartTriggers {
  /** The configured `triggers` array, including those of fragments. */
  readonly triggers: readonly unknown[];
  /** The configured components and services. */
  readonly components: readonly ConfiguredResource[];
  /** Methods configured for capture; needed only by triggers about them. */
  readonly captured?: readonly CapturedMethod[];
  readonly revision: string;
}

/**
 * Provides the triggers of parts. Reads each effective version only once, because every upload needs them. Does not trust the document's
 * shape.
 */
export function createTriggersOf(current: CurrentConfiguration): {
  of(partId: string): Promise<PartTriggers>;
  forget(partId: string): void;
} {
  const known = new Map<string, { stamp: string; triggers: PartTriggers }>();
  return {
    async of(partId) {
      const stamp = await current.stampOf(partId);
      const cached = known.get(partId);
      if (cached?.stamp === stamp) return cached.triggers;
      const { document } = await current.effective(partId);
      const triggers = {
        triggers: triggersIn(document),
        components: resourcesIn(document),
        captured: readCapturedMethods(document),
        revision: `${partId}:${stamp}`,
      };
      known.set(partId, { stamp, triggers });
      return triggers;
    },
    forget: (partId) => void known.delete(partId),
  };
}

/** The components and services in a document. */
export function resourcesIn(document: unknown): readonly ConfiguredResource[] {
  const { components, services } = (document ?? {}) as { components?: unknown; services?: unknown };
  return [...resourcesOf(components, 'component'), ...resourcesOf(services, 'service')];
}

function resourcesOf(entries: unknown, kind: 'component' | 'service'): ConfiguredResource[] {
  return listOf(entries).flatMap((entry) => {
    if (typeof entry !== 'object' || entry === null) return [];
    return [{ name: String((entry as { name?: unknown }).name ?? ''), api: apiOf(entry, kind) }];
  });
}

/** The triggers array of a document; empty if there is none. */
export function triggersIn(document: unknown): readonly unknown[] {
  return listOf((document as { triggers?: unknown } | null)?.triggers);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What other features need of a part's configuration: its triggers (for notifications), and the resource names that they may refer to. */
import type { CurrentConfiguration } from './current-configuration.ts';

export interface PartTriggers {
  /** The configured `triggers` array, including those of fragments. */
  readonly triggers: readonly unknown[];
  /** Names of the configured components and services. */
  readonly components: readonly string[];
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
        components: resourceNames(document),
        revision: `${partId}:${stamp}`,
      };
      known.set(partId, { stamp, triggers });
      return triggers;
    },
    forget: (partId) => void known.delete(partId),
  };
}

/** Names of the components and services in a document. */
export function resourceNames(document: unknown): readonly string[] {
  const { components, services } = (document ?? {}) as { components?: unknown; services?: unknown };
  return [...listOf(components), ...listOf(services)].map((entry) =>
    String((entry as { name?: unknown } | null)?.name ?? ''),
  );
}

/** The triggers array of a document; empty if there is none. */
export function triggersIn(document: unknown): readonly unknown[] {
  return listOf((document as { triggers?: unknown } | null)?.triggers);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

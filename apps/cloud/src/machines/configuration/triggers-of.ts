/** What of a part's configuration others ask for: the triggers (for notifications) and the names that they may mean. */
import type { CurrentConfiguration } from './current-configuration.ts';

export interface PartTriggers {
  /** The `triggers` array as configured, those of fragments included. */
  readonly triggers: readonly unknown[];
  /** Names of the configured components and services. */
  readonly components: readonly string[];
  readonly revision: string;
}

/** Answers for the triggers of parts; an effective version is read once, because every upload asks. Nothing in its shape is trusted. */
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

/** Names of the components and services of a document. */
export function resourceNames(document: unknown): readonly string[] {
  const { components, services } = (document ?? {}) as { components?: unknown; services?: unknown };
  return [...listOf(components), ...listOf(services)].map((entry) =>
    String((entry as { name?: unknown } | null)?.name ?? ''),
  );
}

/** The triggers array of a document; empty when there is none. */
export function triggersIn(document: unknown): readonly unknown[] {
  return listOf((document as { triggers?: unknown } | null)?.triggers);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

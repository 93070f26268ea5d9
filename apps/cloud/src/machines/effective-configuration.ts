/** What of a part's configuration others ask for: the triggers (for notifications) and the names that they may mean. */
import type { Configurations } from './configuration.ts';

export interface PartTriggers {
  /** The `triggers` array as configured. */
  readonly triggers: readonly unknown[];
  /** Names of the configured components and services. */
  readonly components: readonly string[];
  readonly revision: string;
}

/** Answers for the triggers of parts; a version is read once, because every upload asks. Nothing in its shape is trusted. */
export function createTriggersOf(configurations: Configurations): (partId: string) => Promise<PartTriggers> {
  const known = new Map<string, { version: number; triggers: PartTriggers }>();
  return async (partId) => {
    const { document, version } = await configurations.current(partId);
    const cached = known.get(partId);
    if (cached?.version === version) return cached.triggers;
    const config: unknown = JSON.parse(document);
    const triggers = {
      triggers: triggersIn(config),
      components: resourceNames(config),
      revision: `${partId}:${version}`,
    };
    known.set(partId, { version, triggers });
    return triggers;
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

/** What of a part's configuration others ask for: the triggers (for notifications) and the names that they may mean. */
import type { Configurations } from './configuration.ts';

export interface PartTriggers {
  /** The `triggers` array as configured. */
  readonly triggers: readonly unknown[];
  /** Names of the configured components and services. */
  readonly components: readonly string[];
  readonly revision: string;
}

/** Reads a document without trusting its shape: what is not there is empty. */
export async function partTriggers(configurations: Configurations, partId: string): Promise<PartTriggers> {
  const { document, version } = await configurations.current(partId);
  const config: Record<string, unknown> = JSON.parse(document);
  const names = [...listOf(config['components']), ...listOf(config['services'])].map((entry) =>
    String((entry as { name?: unknown })?.name ?? ''),
  );
  return { triggers: listOf(config['triggers']), components: names, revision: `${partId}:${version}` };
}

/** The triggers array of a document; empty when there is none. */
export function triggersIn(document: unknown): readonly unknown[] {
  return listOf((document as { triggers?: unknown } | null)?.triggers);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

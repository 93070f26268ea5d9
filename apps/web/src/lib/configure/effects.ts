/** What saving does to the machine's resources. As in the machine-server, changed resources and their dependents are rebuilt. Pure. */
import type { JsonObject } from '@platform/machine-config/schema';
import { apiOf, cardsOf, listOf, otherKeys, sections } from './document.ts';
import { isEqual } from './merge.ts';

export interface Effects {
  readonly starts: readonly string[];
  readonly restarts: readonly string[];
  /** Because of what they depend on. */
  readonly restartsWith: readonly string[];
  readonly stops: readonly string[];
  /** Other keys of the document that differ, such as `log`. */
  readonly changes: readonly string[];
}

export function effectsOf(before: JsonObject, after: JsonObject): Effects {
  const [old, next] = [runningOf(before), runningOf(after)];
  const starts = [...next.keys()].filter((full) => !old.has(full));
  const stops = [...old.keys()].filter((full) => !next.has(full));
  // The capture settings of other resources belong to the service that captures them.
  const isCaptureSame = isEqual(captureOf(before), captureOf(after));
  const restarts = [...next.keys()].filter(
    (full) =>
      old.has(full) &&
      (!isEqual(old.get(full), next.get(full)) || (!isCaptureSame && full.includes(':service:data_manager/'))),
  );
  const withThem = dependentsOf(next, [...starts, ...restarts]);
  const keys = new Set([...sections.map(({ key }) => key), ...otherKeys(before), ...otherKeys(after)]);
  return {
    starts: starts.map(nameIn),
    restarts: restarts.map(nameIn),
    restartsWith: withThem.map(nameIn),
    stops: stops.map(nameIn),
    changes: [...keys].filter((key) => key !== 'components' && key !== 'services' && !isEqual(before[key], after[key])),
  };
}

/** Enabled resources, by full name. */
function runningOf(document: JsonObject): ReadonlyMap<string, JsonObject> {
  const cards = (['components', 'services'] as const).flatMap((section) => cardsOf(document, section));
  return new Map(
    cards
      .filter(({ entry }) => entry['disabled'] !== true)
      .map(({ section, name, entry }) => [`${apiOf(section, entry)}/${name}`, entry]),
  );
}

/** The resources that depend on the named ones, directly or indirectly, without the named ones. */
function dependentsOf(running: ReadonlyMap<string, JsonObject>, named: readonly string[]): readonly string[] {
  const reached = new Set(named);
  let before: number;
  do {
    before = reached.size;
    for (const [full, entry] of running)
      if (listOf(entry, 'depends_on').some((on) => [...reached].some((name) => isNamed(name, String(on)))))
        reached.add(full);
  } while (reached.size > before);
  return [...reached].filter((full) => !named.includes(full));
}

function isNamed(full: string, name: string): boolean {
  return full === name.replace(/^rdk(?=:)/, 'core') || nameIn(full) === name;
}

function nameIn(full: string): string {
  return full.slice(full.indexOf('/') + 1);
}

function captureOf(document: JsonObject): object {
  return [...runningOf(document)]
    .filter(([, entry]) => entry['service_configs'])
    .map(([full, entry]) => [full, entry['service_configs']]);
}

/** Selects, searches and sorts listed series. Pure. */
import { getOrInsert } from '@platform/base';
import type { Scope } from '@platform/query';
import { typesNamed } from '../../text-rules/types-named.ts';
import type { ListedSeries } from './listed-series.ts';

/** Empty: any. */
export interface SeriesConditions {
  readonly location: string;
  readonly machine: string;
  readonly type: string;
  readonly component: string;
  readonly method: string;
  /** Words that must all occur. */
  readonly search: string;
  /** Undefined: any. */
  readonly newestSinceMs: number | undefined;
}

/** The series that someone may read: the rule of stored rows (D26). */
export function inScope(series: readonly ListedSeries[], { locationIds, robotIds }: Scope): readonly ListedSeries[] {
  if (locationIds === null && robotIds === null) return series;
  const [locations, machines] = [new Set(locationIds), new Set(robotIds)];
  return series.filter(({ location, machine }) => locations.has(location) || machines.has(machine));
}

/** @param machineName is empty for a deleted machine */
export function selectSeries(
  series: readonly ListedSeries[],
  conditions: SeriesConditions,
  machineName: (machineId: string) => string,
): readonly ListedSeries[] {
  const { location, machine, component, method, newestSinceMs } = conditions;
  const types = typesNamed(conditions.type);
  const words = conditions.search.toLowerCase().split(/\s+/).filter(Boolean);
  const names = new Map<string, string>();
  const nameOf = (id: string): string => getOrInsert(names, id, () => machineName(id));
  const lower = new Map<string, string>();
  const lowerNameOf = (id: string): string => getOrInsert(lower, id, () => nameOf(id).toLowerCase());
  const found = series.filter(
    (one) =>
      (location === '' || one.location === location) &&
      (machine === '' || one.machine === machine) &&
      (types.length === 0 || types.includes(one.type)) &&
      (component === '' || one.component === component) &&
      (method === '' || one.method === method) &&
      (newestSinceMs === undefined || (one.newestMs !== undefined && one.newestMs >= newestSinceMs)) &&
      words.every(
        (word) => one.text.includes(word) || lowerNameOf(one.machine).includes(word) || one.valueNames.includes(word),
      ),
  );
  return sorted(found, nameOf);
}

const inWords = new Intl.Collator('en', { numeric: true });

/** Deleted machines come last. Each name is ranked once, because comparing texts takes longer than everything else. */
function sorted(series: readonly ListedSeries[], nameOf: (id: string) => string): readonly ListedSeries[] {
  const rank = (texts: Iterable<string>): ReadonlyMap<string, number> =>
    new Map([...new Set(texts)].sort(inWords.compare).map((text, at) => [text, at]));
  const machines = rank(series.map(({ machine }) => nameOf(machine)));
  const components = rank(series.map(({ component }) => component));
  const rankOf = (one: ListedSeries): number => {
    const name = nameOf(one.machine);
    return name === '' ? Number.POSITIVE_INFINITY : (machines.get(name) ?? 0);
  };
  const keyed = series.map((one) => ({ one, name: rankOf(one), component: components.get(one.component) ?? 0 }));
  keyed.sort((a, b) => (a.name === b.name ? 0 : a.name - b.name) || a.component - b.component || byRest(a.one, b.one));
  return keyed.map(({ one }) => one);
}

/** Never equal for two series, so that pages do not overlap. */
function byRest(a: ListedSeries, b: ListedSeries): number {
  for (const field of ['method', 'machine', 'part', 'type', 'location', 'component'] as const)
    if (a[field] !== b[field]) return a[field] < b[field] ? -1 : 1;
  return 0;
}

const mostChoices = 5_000;

export interface Choices {
  readonly locations: readonly string[];
  readonly machines: readonly string[];
  readonly components: readonly string[];
  readonly methods: readonly string[];
  readonly leftOff: number;
}

/** What can be chosen on each level, within the levels above it. */
export function choicesIn(
  series: readonly ListedSeries[],
  chosen: Pick<SeriesConditions, 'location' | 'machine' | 'component'>,
): Choices {
  const levels = ['location', 'machine', 'component', 'method'] as const;
  const above = { ...chosen, method: '' };
  let within = series;
  let leftOff = 0;
  const [locations = [], machines = [], components = [], methods = []] = levels.map((level) => {
    const all = [...new Set(within.map((one) => one[level]))].sort();
    if (above[level] !== '') within = within.filter((one) => one[level] === above[level]);
    leftOff += Math.max(0, all.length - mostChoices);
    return all.slice(0, mostChoices);
  });
  return { locations, machines, components, methods, leftOff };
}

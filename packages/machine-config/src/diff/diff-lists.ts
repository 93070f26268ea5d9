/** Changes to a list: entries are matched by name if each has a unique one, otherwise by position. */
import { canonicalJson } from '../canonical-json.ts';
import { isObject } from '../is-object.ts';
import type { Json, JsonObject } from '../schema.ts';
import type { Change, Place } from './change.ts';
import { equal } from './equal.ts';

/** How the entries of a list are distinguished. */
type Naming = 'name' | 'id' | 'itself';

export type Lists = Place & { readonly before: readonly Json[]; readonly after: readonly Json[] };

export function isLists(place: Place): place is Lists {
  return Array.isArray(place.before) && Array.isArray(place.after);
}

/** Appends to `changes`. */
export function diffLists(
  { before, after, path, of }: Lists,
  changes: Change[],
  diffInto: (place: Place, changes: Change[]) => void,
): void {
  const naming = (['name', 'id', 'itself'] as const).find((each) => names(before, each) && names(after, each));
  const pairs = naming === undefined ? byPosition(before, after) : byName(before, after, naming);
  const staying = longestIncreasing(pairs.values().toArray());
  before.forEach((entry, index) => {
    const same = pairs.get(index);
    if (same !== undefined && entry === after[same] && staying.has(same)) return;
    const name = naming === undefined || naming === 'itself' ? undefined : nameOf(entry, naming);
    const at = { path: [...path, index], of: name === undefined ? of : [...of, name] };
    const to = pairs.get(index);
    if (to === undefined) {
      changes.push({ kind: 'removed', before: entry, ...at });
      return;
    }
    if (!staying.has(to)) changes.push({ kind: 'moved', to, ...at });
    const inside: Change[] = [];
    diffInto({ before: entry, after: after[to] as Json, ...at }, inside);
    const isRename = (change: Change): boolean =>
      change.kind === 'changed' && change.path.length === path.length + 2 && change.path.at(-1) === naming;
    for (const change of inside) changes.push(isRename(change) ? ({ ...change, kind: 'renamed' } as Change) : change);
  });
  const matched = new Set(pairs.values());
  after.forEach((entry, index) => {
    if (matched.has(index)) return;
    const name = naming === undefined || naming === 'itself' ? undefined : nameOf(entry, naming);
    changes.push({
      kind: 'added',
      path: [...path, index],
      of: name === undefined ? of : [...of, name],
      after: entry,
    });
  });
}

function nameOf(entry: Json, naming: Naming): string | undefined {
  const name =
    naming === 'itself' ? entry : isObject(entry) && Object.hasOwn(entry, naming) ? entry[naming] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** Whether every entry has a unique name. */
function names(list: readonly Json[], naming: Naming): boolean {
  const found = list.map((entry) => nameOf(entry, naming));
  return !found.includes(undefined) && new Set(found).size === found.length;
}

/** Old position → new position; entries that are equal except for their names are treated as one renamed entry. */
function byName(before: readonly Json[], after: readonly Json[], naming: Naming): Map<number, number> {
  const at = new Map(after.map((entry, index) => [nameOf(entry, naming), index]));
  const pairs = new Map<number, number>();
  before.forEach((entry, index) => {
    const to = at.get(nameOf(entry, naming));
    if (to !== undefined) pairs.set(index, to);
  });
  if (naming === 'itself') return pairs;
  const matched = new Set(pairs.values());
  // New positions by the content other than the name; the first one comes last.
  const free = new Map<string, number[]>();
  after.toReversed().forEach((entry, back) => {
    const index = after.length - 1 - back;
    if (matched.has(index)) return;
    const rest = restOf(entry, naming);
    const alike = free.get(rest);
    if (alike === undefined) free.set(rest, [index]);
    else alike.push(index);
  });
  before.forEach((entry, index) => {
    if (pairs.has(index)) return;
    const rest = restOf(entry, naming);
    // An entry with only a name is never a renamed one.
    const to = rest === '{}' ? undefined : free.get(rest)?.pop();
    if (to !== undefined) pairs.set(index, to);
  });
  return new Map([...pairs].sort(([a], [b]) => a - b));
}

/** The content of an entry without its name: one text for all equal ones. */
function restOf(entry: Json, naming: Naming): string {
  return canonicalJson(Object.fromEntries(Object.entries(entry as JsonObject).filter(([key]) => key !== naming)));
}

/** Equal entries at both ends are unchanged; those between them are compared one by one. */
function byPosition(before: readonly Json[], after: readonly Json[]): Map<number, number> {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && equal(before[head] as Json, after[head] as Json)) head++;
  let tail = 0;
  while (tail < shorter - head && equal(before.at(-1 - tail) as Json, after.at(-1 - tail) as Json)) tail++;
  const pairs = new Map<number, number>();
  for (let index = 0; index < shorter - tail; index++) pairs.set(index, index);
  for (let back = tail; back > 0; back--) pairs.set(before.length - back, after.length - back);
  return pairs;
}

/** The longest increasing subsequence of positions: all other entries have moved. @param positions each occurs once. */
function longestIncreasing(positions: readonly number[]): ReadonlySet<number> {
  // The last position of the best run of each length, and the predecessor of each position in its run.
  const ends: number[] = [];
  const before = new Map<number, number>();
  for (const position of positions) {
    let low = 0;
    for (let high = ends.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((ends[middle] as number) < position) low = middle + 1;
      else high = middle;
    }
    const previous = ends[low - 1];
    if (previous !== undefined) before.set(position, previous);
    ends[low] = position;
  }
  const staying = new Set<number>();
  for (let at = ends.at(-1); at !== undefined; at = before.get(at)) staying.add(at);
  return staying;
}

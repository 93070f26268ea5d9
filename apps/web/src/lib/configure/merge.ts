/**
 * Merges a draft with a version that someone else saved in the meantime. Entries of lists are matched by name, everything else by key. A
 * change that only one side made is taken. Different changes of the same thing are a conflict: the draft's stays until the person decides.
 * Pure.
 */
import type { Json, JsonObject } from '@platform/machine-config/schema';
import { isObject } from './document.ts';

export interface Conflict {
  /** Key of the document. */
  readonly key: string;
  /** The entry of its list by name and type, such as `wheel (motor)`; undefined: the value of the key as a whole. */
  readonly name: string | undefined;
  /** Undefined: removed. */
  readonly mine: Json | undefined;
  readonly theirs: Json | undefined;
}

export interface Merged {
  readonly document: JsonObject;
  /** Their changes that the draft now has, such as `components motor`. */
  readonly taken: readonly string[];
  readonly conflicts: readonly Conflict[];
}

interface Sides {
  readonly base: JsonObject;
  readonly mine: JsonObject;
  readonly theirs: JsonObject;
}

/** @param base the version that the draft is based on */
export function merge({ base, mine, theirs }: Sides): Merged {
  const taken: string[] = [];
  const conflicts: Conflict[] = [];
  const document: Record<string, Json> = {};
  for (const key of new Set([...Object.keys(mine), ...Object.keys(theirs), ...Object.keys(base)])) {
    const lists = [base, mine, theirs].map((side) => namedOf(side[key]));
    const [was, my, their] = lists;
    const value =
      was && my && their && (my.size > 0 || their.size > 0)
        ? mergeLists(key, { was, my, their }, taken, conflicts)
        : mergeValue({ key, name: undefined }, [base[key], mine[key], theirs[key]], taken, conflicts);
    if (value !== undefined && !(Array.isArray(value) && value.length === 0 && mine[key] === undefined))
      document[key] = value;
  }
  return { document, taken, conflicts };
}

/** The document with a conflict decided in their favor. */
export function withTheirs(document: JsonObject, { key, name, theirs }: Conflict): JsonObject {
  if (name === undefined) {
    const { [key]: _, ...others } = document;
    return theirs === undefined ? others : { ...document, [key]: theirs };
  }
  const entries = new Map(namedOf(document[key]) ?? []);
  if (theirs === undefined) entries.delete(name);
  else entries.set(name, theirs);
  return { ...document, [key]: [...entries.values()] };
}

function mergeLists(
  key: string,
  { was, my, their }: Record<'was' | 'my' | 'their', ReadonlyMap<string, Json>>,
  taken: string[],
  conflicts: Conflict[],
): Json {
  return [...new Set([...my.keys(), ...their.keys(), ...was.keys()])].flatMap((name) => {
    const value = mergeValue({ key, name }, [was.get(name), my.get(name), their.get(name)], taken, conflicts);
    return value === undefined ? [] : [value];
  });
}

function mergeValue(
  { key, name }: Pick<Conflict, 'key' | 'name'>,
  [was, mine, theirs]: readonly [Json | undefined, Json | undefined, Json | undefined],
  taken: string[],
  conflicts: Conflict[],
): Json | undefined {
  if (isEqual(mine, theirs) || isEqual(was, theirs)) return mine;
  if (isEqual(was, mine)) {
    taken.push(name === undefined ? key : `${key} ${name}`);
    return theirs;
  }
  conflicts.push({ key, name, mine, theirs });
  return mine;
}

/** Entries by name or id; an absent list is empty. Undefined if the value is not a list, or an entry has no unique name. */
function namedOf(value: Json | undefined): ReadonlyMap<string, Json> | undefined {
  if (value === undefined) return new Map();
  if (!Array.isArray(value)) return undefined;
  const named = new Map<string, Json>();
  for (const entry of value as readonly Json[]) {
    const name = isObject(entry) ? (entry['name'] ?? entry['id']) : undefined;
    // Components of different types may share a name.
    const type = isObject(entry)
      ? String(entry['api'] ?? entry['type'] ?? '')
          .split(':')
          .at(-1)
      : '';
    const full = typeof name === 'string' ? (type ? `${name} (${type})` : name) : undefined;
    if (full === undefined || named.has(full)) return undefined;
    named.set(full, entry);
  }
  return named;
}

/** Whether two JSON values are the same; the order of keys does not matter. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((one, index) => isEqual(one, b[index]))
    );
  const [left, right] = [Object.entries(a), b as Record<string, unknown>];
  return (
    left.length === Object.keys(b).length &&
    left.every(([key, value]) => Object.hasOwn(b, key) && isEqual(value, right[key]))
  );
}

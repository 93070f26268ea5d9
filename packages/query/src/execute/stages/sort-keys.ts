/** The sort keys of a row. An array sorts by its least element when ascending, by its greatest when descending. */

import { compareValues } from '../../bson/compare.ts';
import { BsonDocument, BsonUndefined, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { Path } from '../../plan/expr.ts';
import type { SortKey } from '../../plan/sort-key.ts';
import { QueryError } from '../../query-error.ts';

export function compareKeys(left: readonly BsonValue[], right: readonly BsonValue[], by: readonly SortKey[]): number {
  for (let index = 0; index < by.length; index++) {
    const difference = compareValues(left[index], right[index]);
    if (difference !== 0) return by[index]!.descending ? -difference : difference;
  }
  return 0;
}

export const parallelArrays = 'cannot sort with keys that are parallel arrays';

/** @throws QueryError BadValue if two of the paths lead into different arrays. */
export function sortKeysOf(document: BsonDocument, by: readonly SortKey[]): BsonValue[] {
  const keys: BsonValue[] = [];
  for (const { path } of by) {
    const key = keyWithoutArrays(document, path);
    if (Array.isArray(key)) return keysOfArrays(document, by);
    keys.push(key);
  }
  return keys;
}

/** An array if there is one on the path or at its end. */
function keyWithoutArrays(document: BsonDocument, path: Path): BsonValue {
  let current: Maybe = document;
  for (let index = 0; index < path.length; index++) {
    if (Array.isArray(current)) return current;
    current = current instanceof BsonDocument ? current.get(path[index]!) : undefined;
  }
  return current ?? null;
}

function keysOfArrays(document: BsonDocument, by: readonly SortKey[]): BsonValue[] {
  let arrayPath: Path | undefined;
  return by.map(({ path, descending }) => {
    const values: BsonValue[] = [];
    const sawArray = collect(document, path, 0, values);
    if (sawArray !== undefined) {
      const prefix = path.slice(0, sawArray);
      // Two independent arrays would give every pair of their elements as a key.
      if (arrayPath !== undefined && arrayPath.join('.') !== prefix.join('.')) {
        throw new QueryError('BadValue', parallelArrays, { path: path.join('.') });
      }
      arrayPath = prefix;
    }
    let best: Maybe = values[0];
    for (const value of values) {
      const order = compareValues(value, best);
      if (descending ? order > 0 : order < 0) best = value;
    }
    return best ?? null;
  });
}

/** Collects the values at a path; returns the length of the path up to the first array, if there is one. */
function collect(start: Maybe, path: Path, from: number, into: BsonValue[]): number | undefined {
  let current = start;
  for (let index = from; index <= path.length; index++) {
    if (Array.isArray(current)) {
      if (current.length === 0) into.push(index === path.length ? new BsonUndefined() : null);
      const position = index < path.length && /^\d+$/.test(path[index]!) ? current[Number(path[index])] : undefined;
      if (position !== undefined) collect(position, path, index + 1, into);
      else
        for (const item of current) {
          if (index === path.length) into.push(item);
          else collect(item, path, index, into);
        }
      return index;
    }
    if (index === path.length) break;
    current = current instanceof BsonDocument ? current.get(path[index]!) : undefined;
  }
  into.push(current ?? null);
  return undefined;
}

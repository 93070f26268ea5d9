/** $sortArray. Arguments: the array, and then, for each key, its path (empty for the element itself) and 1 or -1. */

import { compareValues } from '../../../bson/compare.ts';
import { isNullish, typeName } from '../../../bson/type.ts';
import { BsonDocument, type BsonValue, Int32, type Maybe } from '../../../bson/value.ts';
import { QueryError } from '../../../query-error.ts';
import type { Eager } from '../registry.ts';

interface Key {
  readonly path: readonly string[];
  readonly sign: number;
}

export const arraySort: Readonly<Record<string, Eager>> = {
  'agg.sortArray': (input, ...spec) => {
    if (isNullish(input)) return null;
    if (!Array.isArray(input))
      throw new QueryError(2942504, `the input of $sortArray must be an array, but is of type: ${typeName(input)}`);
    const keys = keysOf(spec);
    return input.toSorted((left, right) => {
      for (const { path, sign } of keys) {
        const order = compareValues(keyOf(left, path), keyOf(right, path));
        if (order !== 0) return order * sign;
      }
      return 0;
    });
  },
};

function keysOf(spec: readonly Maybe[]): readonly Key[] {
  const keys: Key[] = [];
  for (let index = 0; index + 1 < spec.length; index += 2) {
    const [path, sign] = [spec[index], spec[index + 1]];
    keys.push({
      path: typeof path === 'string' && path !== '' ? path.split('.') : [],
      sign: sign instanceof Int32 ? sign.value : 1,
    });
  }
  return keys;
}

/** What is not there sorts as null. Arrays on the way are entered by position only. */
function keyOf(item: BsonValue, path: readonly string[]): BsonValue {
  let current: Maybe = item;
  if (path.length > 0 && Array.isArray(item)) return null;
  for (const name of path) {
    if (current instanceof BsonDocument) current = current.get(name);
    else if (Array.isArray(current) && /^\d+$/.test(name)) current = current[Number(name)];
    else return null;
  }
  return current ?? null;
}

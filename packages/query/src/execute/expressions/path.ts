/** Reads along a path by the rules of expressions: an array on the path gives the array of its elements' results. */

import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { Path } from '../../plan/expr.ts';

export function valueAt(value: Maybe, path: Path, from = 0): Maybe {
  let current = value;
  for (let index = from; index < path.length; index++) {
    if (current instanceof BsonDocument) current = current.get(path[index]!);
    else if (Array.isArray(current)) return throughArray(current, path, index);
    else return undefined;
  }
  return current;
}

function throughArray(array: readonly BsonValue[], path: Path, index: number): BsonValue[] {
  const found: BsonValue[] = [];
  for (const item of array) {
    if (!(item instanceof BsonDocument)) continue;
    const below = valueAt(item, path, index);
    if (below !== undefined) found.push(below);
  }
  return found;
}

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

/**
 * Sets one value by its path in a copy of a row. A copy of the row with a value set, or removed if it is undefined; anything on the path
 * that is not an object becomes one.
 */
export function withValue(row: Maybe, path: Path, value: Maybe, from = 0): BsonDocument {
  const document = row instanceof BsonDocument ? new BsonDocument(row) : new BsonDocument();
  const name = path[from]!;
  if (from < path.length - 1) document.set(name, withValue(document.get(name), path, value, from + 1));
  else if (value === undefined) document.delete(name);
  else document.set(name, value);
  return document;
}

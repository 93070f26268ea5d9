/** Sets one value by its path in a copy of a row. */

import { BsonDocument, type Maybe } from '../../bson/value.ts';
import type { Path } from '../../plan/expr.ts';

/** A copy of the row with a value set, or removed if it is undefined; anything on the path that is not an object becomes one. */
export function withValue(row: Maybe, path: Path, value: Maybe, from = 0): BsonDocument {
  const document = row instanceof BsonDocument ? new BsonDocument(row) : new BsonDocument();
  const name = path[from]!;
  if (from < path.length - 1) document.set(name, withValue(document.get(name), path, value, from + 1));
  else if (value === undefined) document.delete(name);
  else document.set(name, value);
  return document;
}

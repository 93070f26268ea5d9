/** Setting one value by its path in a copy of a row. */

import { BsonDocument, type Maybe } from '../../bson/value.ts';
import type { Path } from '../../plan/expr.ts';

/** A copy of the row with a value set, or with none when it is undefined; what is on the way and no object becomes one. */
export function withValue(row: Maybe, path: Path, value: Maybe, from = 0): BsonDocument {
  const document = row instanceof BsonDocument ? new BsonDocument(row) : new BsonDocument();
  const name = path[from]!;
  if (from < path.length - 1) document.set(name, withValue(document.get(name), path, value, from + 1));
  else if (value === undefined) document.delete(name);
  else document.set(name, value);
  return document;
}

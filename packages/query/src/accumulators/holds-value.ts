/** What COUNT of SQL counts. */

import { isNullish } from '../bson/type.ts';
import { BsonDocument, type Maybe } from '../bson/value.ts';

/** Neither null nor missing; of a document, at least one of its values. */
export function holdsValue(value: Maybe): boolean {
  return value instanceof BsonDocument ? ![...value.values()].every(isNullish) : !isNullish(value);
}

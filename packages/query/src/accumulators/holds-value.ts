/** What COUNT of SQL counts. */

import { isNullish } from '../bson/type.ts';
import { BsonDocument, type Maybe } from '../bson/value.ts';

/** Whether the value is neither null nor missing; for a document, whether at least one of its values is not. */
export function holdsValue(value: Maybe): boolean {
  return value instanceof BsonDocument ? ![...value.values()].every(isNullish) : !isNullish(value);
}

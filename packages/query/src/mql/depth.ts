/** Limits nesting, so that no query can exhaust the stack of code that walks it. */

import { maxDepth } from '../bson/decode.ts';
import { BsonDocument, type BsonValue } from '../bson/value.ts';
import { QueryError } from '../query-error.ts';

/** @throws QueryError Overflow if documents and arrays are nested deeper than 200 levels. */
export function checkDepth(value: BsonValue, depth = 1): void {
  if (depth > maxDepth) throw new QueryError('Overflow', `the query is nested deeper than ${maxDepth} levels`);
  if (value instanceof BsonDocument) for (const below of value.values()) checkDepth(below, depth + 1);
  else if (Array.isArray(value)) for (const below of value) checkDepth(below, depth + 1);
}

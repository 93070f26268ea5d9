/** Estimates of memory, for the budget: right within a factor of two, cheap. */

import { BsonDocument, type Maybe } from '../bson/value.ts';

/** Bytes on the heap of a value and all that it holds. */
export function sizeOf(value: Maybe): number {
  if (typeof value === 'string') return 24 + value.length;
  if (value instanceof BsonDocument) {
    let size = 120;
    for (const [name, field] of value) size += 24 + name.length + sizeOf(field);
    return size;
  }
  if (Array.isArray(value)) {
    let size = 32;
    for (const item of value) size += 8 + sizeOf(item);
    return size;
  }
  return 24;
}

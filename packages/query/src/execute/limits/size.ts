/** Estimates of memory, for the budget: right within a factor of two, cheap. */

import { BsonDocument, type Maybe } from '../../bson/value.ts';

/**
 * Sizes of large values that were measured before. Values share their parts: without this, walking ['$a', '$a'] again and again
 * would take as long as what they would be when written out, not as what they hold.
 */
const measured = new WeakMap<object, number>();
const rememberedBytes = 1024;

/**
 * Bytes on the heap of a value and all that it holds; what it holds twice counts twice, as it will be written.
 * @param atMost a value that is larger is not walked to its end: the answer is then some number above.
 */
export function sizeOf(value: Maybe, atMost: number = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string') return 24 + value.length;
  if (typeof value !== 'object' || value === null) return 24;
  const isArray = Array.isArray(value);
  if (!isArray && !(value instanceof BsonDocument)) return 'bytes' in value ? 64 + value.bytes.length : 24;
  const known = measured.get(value);
  if (known !== undefined) return known;
  let size = isArray ? 32 : 120;
  if (isArray) {
    for (const item of value) {
      size += 8 + sizeOf(item, atMost - size);
      if (size > atMost) return size;
    }
  } else {
    for (const [name, field] of value) {
      size += 24 + name.length + sizeOf(field, atMost - size);
      if (size > atMost) return size;
    }
  }
  return size;
}

/** As sizeOf, of a value that is not changed any more and may be asked about again. */
export function measure(value: Maybe, atMost: number): number {
  const size = sizeOf(value, atMost);
  if (size >= rememberedBytes && size <= atMost && typeof value === 'object' && value !== null)
    measured.set(value, size);
  return size;
}

/** Cheap estimates of memory for the budget, accurate within a factor of two. */

import { BsonDocument, type Maybe } from '../../bson/value.ts';

/**
 * Sizes of large values that were already measured. Values share their parts: without this, walking nested ['$a', '$a'] would take time in
 * proportion to the expanded value, not to the memory it uses.
 */
const measured = new WeakMap<object, number>();
const rememberedBytes = 1024;

/**
 * Heap bytes of a value and all that it holds; parts that occur twice count twice, as when written. @param atMost a larger value is not
 * walked to its end: the result is then some number above it.
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

/** Like sizeOf, for a value that no longer changes and may be measured again. */
export function measure(value: Maybe, atMost: number): number {
  const size = sizeOf(value, atMost);
  if (size >= rememberedBytes && size <= atMost && typeof value === 'object' && value !== null)
    measured.set(value, size);
  return size;
}

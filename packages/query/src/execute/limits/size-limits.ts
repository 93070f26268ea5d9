/** Limits what expressions build, while it is built: each value, and all values for one row. */
import { decodeBson } from '../../bson/decode.ts';
import { BsonDocument, type Maybe } from '../../bson/value.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { inStage } from '../error-stage.ts';
import type { Frame } from '../expressions/scope.ts';

/** Maximum size of one text, array or document that a query builds: MongoDB's limit for a document. */
export const maxValueBytes: number = 16 * 1024 * 1024;

/** Maximum of everything built for one row, including garbage. */
const maxRowBytes = 100 * 1024 * 1024;

/** A larger value took long to build, so the clock is checked. */
const longBytes = 64 * 1024;

/** Counts a value that was just built. @throws QueryError BSONObjectTooLarge or ExceededMemoryLimit */
export function withinSizeLimits<V extends Maybe>(frame: Frame, value: V): V {
  if (typeof value === 'string' ? value.length < 64 : typeof value !== 'object' || value === null) return value;
  const bytes = measure(value, maxValueBytes);
  if (bytes > maxValueBytes) throw tooLarge();
  if (bytes > longBytes) frame.check();
  frame.builtBytes += bytes;
  if (frame.builtBytes > maxRowBytes) {
    throw new QueryError('ExceededMemoryLimit', `the values built for one row need more than ${maxRowBytes} bytes`, {
      hint: 'build smaller strings and arrays, or filter arrays before $map',
    });
  }
  return value;
}

/** For a backend that builds rows instead of a stage. @throws QueryError what the stage would throw for a row that is too large */
export function refuseTooLarge(row: Uint8Array, stage: Stage): void {
  inStage(stage, () => {
    if (sizeOf(decodeBson(row), maxValueBytes) > maxValueBytes) throw tooLarge();
  });
}

export function tooLarge(): QueryError {
  return new QueryError(
    'BSONObjectTooLarge',
    `a string, array or document that a query builds can have at most ${maxValueBytes} bytes`,
    {
      hint: 'project fewer fields, or shorten it with $slice or $substrCP',
    },
  );
}

/**
 * Sizes of large values that were already measured. Values share their parts: without this, walking nested ['$a', '$a'] would take time in
 * proportion to the expanded value, not to the memory it uses.
 */
const measured = new WeakMap<object, number>();
const rememberedBytes = 1024;

/**
 * Cheap estimates of memory for the budget, accurate within a factor of two. Heap bytes of a value and all that it holds; parts that occur
 * twice count twice, as when written. @param atMost a larger value is not walked to its end: the result is then some number above it.
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

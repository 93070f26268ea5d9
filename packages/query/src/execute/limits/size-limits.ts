/** Limits what expressions build, while it is built: each value, and all values for one row. */

import { decodeBson } from '../../bson/decode.ts';
import type { Maybe } from '../../bson/value.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { inStage } from '../error-stage.ts';
import type { Frame } from '../expressions/scope.ts';
import { measure, sizeOf } from './size.ts';

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

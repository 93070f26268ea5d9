/**
 * Converts wire times to those of the tables: whole microseconds since 1970. Nanoseconds are rounded down to the microsecond, even in
 * bounds (D35).
 */
import { create } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';

/** Times beyond the integers that a JavaScript number represents exactly are wrong by centuries, and are clamped. */
export function microsecondsOf({ seconds, nanos }: Timestamp): number {
  const us = Number(seconds) * 1_000_000 + Math.floor(nanos / 1_000);
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, us));
}

export function timestampOf(us: number): Timestamp {
  const seconds = Math.floor(us / 1_000_000);
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: (us - seconds * 1_000_000) * 1_000 });
}

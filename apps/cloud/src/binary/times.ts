/** Times of the wire as the tables hold them: whole microseconds since 1970. Nanoseconds count as the microsecond in which they lie, in bounds too (D35). */
import { create } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';

/** Times beyond what a JavaScript number holds exactly are wrong by centuries, and count as the nearest one that it does. */
export function microsecondsOf({ seconds, nanos }: Timestamp): number {
  const us = Number(seconds) * 1_000_000 + Math.floor(nanos / 1_000);
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, us));
}

export function timestampOf(us: number): Timestamp {
  const seconds = Math.floor(us / 1_000_000);
  return create(TimestampSchema, { seconds: BigInt(seconds), nanos: (us - seconds * 1_000_000) * 1_000 });
}

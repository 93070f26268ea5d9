/**
 * Times of readings as stored: whole microseconds since 1970, the resolution that machines send (D35). A time in a message may have
 * nanoseconds; it is truncated to the microsecond, both in readings and in bounds.
 */
import { create } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';

export function microsecondsOf({ seconds, nanos }: Timestamp): bigint {
  return seconds * 1_000_000n + BigInt(Math.floor(nanos / 1_000));
}

export function timestampOf(microseconds: bigint): Timestamp {
  const rest = restOf(microseconds, 1_000_000n);
  return create(TimestampSchema, { seconds: (microseconds - rest) / 1_000_000n, nanos: Number(rest) * 1_000 });
}

/** The millisecond that contains the time; also correct before 1970. */
export function millisecondOf(microseconds: bigint): number {
  return Number((microseconds - restOf(microseconds, 1_000n)) / 1_000n);
}

function restOf(microseconds: bigint, unit: bigint): bigint {
  const rest = microseconds % unit;
  return rest < 0n ? rest + unit : rest;
}

/** A CaptureInterval in microseconds: the start is included, the end is not. */
import type { CaptureInterval } from '@platform/proto/platform/app/data/v1/data';
import { microsecondsOf } from './microseconds.ts';

export interface Interval {
  /** Absent: from the first reading. */
  readonly from?: bigint | undefined;
  /** Excluded. Absent: to the last reading. */
  readonly until?: bigint | undefined;
}

/** Earlier times are clamped to this when readings are stored. */
export const leastTime: bigint = BigInt(Date.parse('0001-01-01T00:00:00Z')) * 1_000n;
/** After all stored times. */
export const endOfTime = 253_402_300_800_000_000n;

export function intervalOf(interval: CaptureInterval | undefined): Interval {
  const { start, end } = interval ?? {};
  return { from: start && stored(microsecondsOf(start)), until: end && stored(microsecondsOf(end)) };
}

/** Clamps a time to the range of stored times. */
function stored(time: bigint): bigint {
  if (time < leastTime) return leastTime;
  return time > endOfTime ? endOfTime : time;
}

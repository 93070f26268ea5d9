/** A CaptureInterval in whole milliseconds, which is what rows hold: the start is included, the end is not. */
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { CaptureInterval } from '@platform/proto/platform/app/data/v1/data';
import { endOfTimeMs, leastMs } from './reading-page.ts';

export interface Interval {
  readonly fromMs?: number | undefined;
  readonly untilMs?: number | undefined;
}

export function intervalMs(interval: CaptureInterval | undefined): Interval {
  const { start, end } = interval ?? {};
  return {
    fromMs: start && stored(timestampMs({ ...start, nanos: start.nanos - (start.nanos % 1_000_000) })),
    untilMs: end && stored(timestampMs(end) + (end.nanos % 1_000_000 === 0 ? 0 : 1)),
  };
}

/** Beyond the times that rows can have, all are the same. */
function stored(ms: number): number {
  return Math.min(Math.max(ms, leastMs), endOfTimeMs);
}

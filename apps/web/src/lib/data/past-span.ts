/** Of which time the past of series is shown, which takes a query over its readings. */
import { boundsOf, type TimeRange } from '../range/time-range.ts';

export interface PastSpan {
  readonly fromMs: number;
  /** Undefined: now. */
  readonly untilMs: number | undefined;
  /** All of the time is shown, by a reading of each part of it; otherwise its last readings. */
  readonly isSampled: boolean;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * One series has charts of the whole range; without a range, of its last readings within a day. The lines of several series show their last
 * readings within an hour.
 */
export function pastSpan(range: TimeRange, isOne: boolean, nowMs: number): PastSpan {
  const { since, until } = boundsOf(range, nowMs);
  const untilMs = until === undefined ? undefined : Date.parse(until);
  const endMs = untilMs ?? nowMs;
  const sinceMs = since === undefined ? endMs - dayMs : Date.parse(since);
  return { fromMs: isOne ? sinceMs : Math.max(sinceMs, endMs - hourMs), untilMs, isSampled: isOne && range !== 0 };
}

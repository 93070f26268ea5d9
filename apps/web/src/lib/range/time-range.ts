/** The range of time of which readings are shown: up to now, or from one time until another. */
import type { JsonObject } from '@bufbuild/protobuf';
import type { Row } from '../query/pipeline.ts';
import { type Span, spanOf, spanTexts } from './span.ts';

/** A number: the last ms up to now; 0: all time. */
export type TimeRange = number | Span;

/** Ranges up to now that can be chosen. */
export const ranges = [
  { name: 'Last 15 minutes', ms: 15 * 60_000 },
  { name: 'Last hour', ms: 3_600_000 },
  { name: 'Last 24 hours', ms: 86_400_000 },
  { name: 'Last 7 days', ms: 7 * 86_400_000 },
  { name: 'All time', ms: 0 },
] as const;

export const defaultRange: TimeRange = 3_600_000;

/** The parameter of an address: ms, or an interval of ISO 8601, whose open end is `..`. */
export function rangeText(range: TimeRange): string {
  if (typeof range === 'number') return String(range);
  const { from, until } = spanTexts(range);
  return `${from || '..'}/${until || '..'}`;
}

/** The range of a parameter; undefined if it is none, or a number of ms that cannot be chosen. */
export function rangeOf(text: string | null): TimeRange | undefined {
  const [from = '', until] = (text ?? '').split('/');
  return until === undefined ? ranges.find(({ ms }) => String(ms) === from)?.ms : spanOf(from, until);
}

/** The fields of a range in what is stored in metadata. */
export function storedRange(range: TimeRange): JsonObject {
  return typeof range === 'number' ? { rangeMs: range } : { range: rangeText(range) };
}

/** The range of what is stored; the default if it has none. */
export function rangeOfStored({ range, rangeMs }: JsonObject): TimeRange {
  const span = typeof range === 'string' ? rangeOf(range) : undefined;
  return span ?? (typeof rangeMs === 'number' ? rangeMs : defaultRange);
}

/** Its first time, and the first after it, as fields of `POST /api/query`; absent: open. */
export interface Bounds {
  readonly since?: string;
  readonly until?: string;
}

export function boundsOf(range: TimeRange, nowMs: number): Bounds {
  if (range === 0) return {};
  if (typeof range === 'number') return { since: new Date(nowMs - range).toISOString() };
  const { from, until } = spanTexts(range);
  return { ...(from && { since: from }), ...(until && { until }) };
}

/** What the bounds add to a query, in its language; empty: nothing. */
export function boundsWords({ since, until }: Bounds, language: 'mql' | 'sql'): string {
  if (since === undefined && until === undefined) return '';
  if (language === 'mql')
    return JSON.stringify({
      $match: { time_received: { ...(since && { $gte: since }), ...(until && { $lt: until }) } },
    });
  const conditions = [since && `time_received >= '${since}'`, until && `time_received < '${until}'`];
  return `WHERE ${conditions.filter(Boolean).join(' AND ')}`;
}

/** The stage that is put before a pipeline; undefined: none. */
export function boundsStage({ since, until }: Bounds): Row | undefined {
  if (since === undefined && until === undefined) return undefined;
  const received = { ...(since && { $gte: { $date: since } }), ...(until && { $lt: { $date: until } }) };
  return { $match: { time_received: received } };
}

/** How often what is shown of a range is asked for again: what is over changes only by late readings. */
export function pollMs(range: TimeRange, everyMs: number, nowMs: number): number {
  const isOver = typeof range !== 'number' && range.until !== undefined && range.until.getTime() < nowMs;
  return isOver ? Math.max(everyMs, overMs) : everyMs;
}

const overMs = 60_000;

/** The span to begin with when absolute times are chosen instead of a range up to now: the same time, to the minute. */
export function spanUntilNow(range: TimeRange, nowMs: number): Span {
  if (typeof range !== 'number') return range;
  const minuteMs = 60_000;
  const untilMs = Math.ceil(nowMs / minuteMs) * minuteMs;
  return { from: new Date(untilMs - (range || 86_400_000)), until: new Date(untilMs) };
}

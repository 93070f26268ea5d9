/** Times and durations as users type them: 90d, 2h, 2027-01-31T00:00:00Z. */
import { invalidArgument } from '@platform/base/refusals';
import { type Clock, systemClock } from '@platform/sdk/cloud';

const unitsMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** @param what the option, for the message. @throws invalid_argument */
export function spanMs(text: string, what: string): number {
  const ms = parsedSpanMs(text);
  if (ms !== undefined && ms > 0) return ms;
  throw invalidArgument(`${what}: expected a duration such as 30s, 10m or 2h, found "${text}"`);
}

/** A duration before now, or a time. @throws invalid_argument */
export function timeBefore(text: string, what: string, clock: Clock = systemClock): Date {
  return timeOf(text, what, clock.now(), -1);
}

/** A duration after now, or a time. @throws invalid_argument */
export function timeAfter(text: string, what: string, clock: Clock = systemClock): Date {
  return timeOf(text, what, clock.now(), 1);
}

function timeOf(text: string, what: string, nowMs: number, direction: 1 | -1): Date {
  const ms = parsedSpanMs(text);
  // Date.parse alone accepts almost anything, such as "5?".
  const time = /^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2})?)?$/.test(text) ? Date.parse(text) : Number.NaN;
  const at = new Date(ms === undefined ? time : nowMs + direction * ms);
  if (Number.isFinite(at.getTime())) return at;
  throw invalidArgument(
    `${what}: expected a duration such as 90d, 2h or 30m, or a time such as 2027-01-31T00:00:00Z, found "${text}"`,
  );
}

function parsedSpanMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d+)([smhdw])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (unitsMs[unit] ?? Number.NaN);
}

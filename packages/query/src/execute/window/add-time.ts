/** A time some units later, in UTC. A day that the month does not have becomes its last one. */

import type { TimeUnit } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';

const months: Readonly<Partial<Record<TimeUnit, number>>> = { month: 1, quarter: 3, year: 12 };
const milliseconds: Readonly<Partial<Record<TimeUnit, number>>> = {
  week: 604_800_000,
  day: 86_400_000,
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};

/** Milliseconds of a unit that is always equally long; undefined for months, quarters and years. */
export function fixedUnitMs(unit: TimeUnit): number | undefined {
  return milliseconds[unit];
}

/** @throws QueryError Overflow beyond the dates that can be told. */
export function addTime(ms: number, unit: TimeUnit, amount: number): number {
  const fixed = milliseconds[unit];
  const result = fixed === undefined ? addMonths(ms, amount * months[unit]!) : ms + amount * fixed;
  if (!Number.isFinite(result) || Math.abs(result) > 2 ** 63) throw new QueryError('Overflow', 'date overflow');
  return result;
}

function addMonths(ms: number, amount: number): number {
  const date = new Date(ms);
  const month = date.getUTCFullYear() * 12 + date.getUTCMonth() + amount;
  const year = Math.floor(month / 12);
  const inYear = month - year * 12;
  const lastDay = new Date(0);
  lastDay.setUTCFullYear(year, inYear + 1, 0);
  date.setUTCFullYear(year, inYear, Math.min(date.getUTCDate(), lastDay.getUTCDate()));
  return date.getTime();
}

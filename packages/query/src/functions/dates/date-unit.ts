/** Units of time and days of the week, as $dateAdd, $dateDiff and $dateTrunc name them. */

import { typeName } from '../../bson/type.ts';
import type { Maybe } from '../../bson/value.ts';
import { malformed, QueryError } from '../../query-error.ts';
import { dayMs } from './calendar.ts';

export type Unit = 'year' | 'quarter' | 'month' | 'week' | 'day' | 'hour' | 'minute' | 'second' | 'millisecond';

/** Milliseconds of the units that have a fixed length on a clock. */
export const unitMs: Readonly<Partial<Record<Unit, number>>> = {
  week: 7 * dayMs,
  day: dayMs,
  hour: 3_600_000,
  minute: 60_000,
  second: 1000,
  millisecond: 1,
};

export const unitMonths: Readonly<Partial<Record<Unit, number>>> = { year: 12, quarter: 3, month: 1 };

/** From the longest to the shortest. */
export const units: ReadonlySet<string> = new Set([...Object.keys(unitMonths), ...Object.keys(unitMs)]);

export function isUnit(text: string): text is Unit {
  return units.has(text);
}

export function unitOf(value: Maybe, name: string): Unit {
  if (typeof value !== 'string') {
    throw new QueryError(5439013, `${name}: unit must be a string, found ${typeName(value)}`);
  }
  if (isUnit(value)) return value;
  throw malformed(`${name}: unknown time unit '${value.slice(0, 80)}', expected ${[...units].join(', ')}`);
}

const weekdays: readonly string[] = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** 0 is Sunday. The name is in full or its first three letters, in any case. */
export function weekStart(value: Maybe, name: string): number {
  if (typeof value !== 'string') {
    throw new QueryError(5439015, `${name}: startOfWeek must be a string, found ${typeName(value)}`);
  }
  const text = value.toLowerCase();
  const day = weekdays.findIndex((weekday) => weekday === text || weekday.slice(0, 3) === text);
  if (day < 0) throw new QueryError(5439016, `${name}: unknown day of week '${value.slice(0, 80)}'`);
  return day;
}

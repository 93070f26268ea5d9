/** $year … $isoWeekYear and $dateToParts. */

import { isNullish, typeName } from '../../../bson/type.ts';
import { BsonDocument, Int32, type Maybe } from '../../../bson/value.ts';
import { QueryError } from '../../../query-error.ts';
import type { Eager } from '../registry.ts';
import { civilOf, dayMs, dayOfYear, isoWeekOf, weekdayOf, weekOfYear } from './calendar.ts';
import { millisecondsOf } from './date-value.ts';
import { utc, zoneOf } from './time-zone.ts';

/** @param days since 1970-01-01. @param ms of that day. */
type Read = (days: number, ms: number) => number;

const hour: Read = (_, ms) => Math.floor(ms / 3_600_000);
const minute: Read = (_, ms) => Math.floor(ms / 60_000) % 60;
const second: Read = (_, ms) => Math.floor(ms / 1000) % 60;
const millisecond: Read = (_, ms) => ms % 1000;

const reads: Readonly<Record<string, Read>> = {
  year: (days) => civilOf(days).year,
  month: (days) => civilOf(days).month,
  dayOfMonth: (days) => civilOf(days).day,
  hour,
  minute,
  second,
  millisecond,
  dayOfYear,
  dayOfWeek: (days) => weekdayOf(days) + 1,
  week: weekOfYear,
  isoDayOfWeek: (days) => isoWeekOf(days).day,
  isoWeek: (days) => isoWeekOf(days).week,
  isoWeekYear: (days) => isoWeekOf(days).year,
};

export const dateParts: Readonly<Record<string, Eager>> = {
  ...Object.fromEntries(Object.entries(reads).map(([name, read]) => [`agg.${name}`, part(name, read)])),
  'agg.dateToParts': toParts,
};

/** Whole days and the rest; date and time of a clock. */
export function splitDays(localMs: number): { days: number; ms: number } {
  const days = Math.floor(localMs / dayMs);
  return { days, ms: localMs - days * dayMs };
}

function part(name: string, read: Read): Eager {
  return (...args) => {
    const [value, zone] = args;
    if (isNullish(value)) return null;
    const instant = millisecondsOf(value, 16006);
    if (args.length > 1 && isNullish(zone)) return null;
    const offset = args.length > 1 ? zoneOf(zone).offsetAt(instant) : 0;
    const { days, ms } = splitDays(instant + offset);
    const number = read(days, ms);
    // Only the ISO year is an int64.
    return name === 'isoWeekYear' ? BigInt(number) : new Int32(number);
  };
}

/** Arguments: date, timezone, iso8601. */
function toParts(value: Maybe, timezone: Maybe, iso: Maybe): Maybe {
  if (isNullish(timezone)) return null;
  const zone = timezone === 'UTC' ? utc : zoneOf(timezone);
  if (isNullish(iso)) return null;
  if (typeof iso !== 'boolean') {
    throw new QueryError(40521, `iso8601 must evaluate to a bool, found ${typeName(iso)}`);
  }
  if (isNullish(value)) return null;
  const instant = millisecondsOf(value, 16006);
  const { days, ms } = splitDays(instant + zone.offsetAt(instant));
  const { year, month, day } = civilOf(days);
  const week = isoWeekOf(days);
  const date = iso ? { isoWeekYear: week.year, isoWeek: week.week, isoDayOfWeek: week.day } : { year, month, day };
  const parts = {
    ...date,
    hour: hour(days, ms),
    minute: minute(days, ms),
    second: second(days, ms),
    millisecond: millisecond(days, ms),
  };
  return new BsonDocument(Object.entries(parts).map(([name, number]) => [name, new Int32(number)]));
}

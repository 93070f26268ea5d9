/** Parts of dates, $dateTrunc and $dateToString; in UTC or at a fixed offset. */

import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import { BsonDate, Int32, type Maybe, ObjectId, Timestamp } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { zoneMinutes } from './date-text.ts';
import { plainNumber } from './number.ts';
import type { Eager } from './registry.ts';

export const date: Readonly<Record<string, Eager>> = {
  'agg.year': part((date) => date.getUTCFullYear()),
  'agg.month': part((date) => date.getUTCMonth() + 1),
  'agg.dayOfMonth': part((date) => date.getUTCDate()),
  'agg.hour': part((date) => date.getUTCHours()),
  'agg.minute': part((date) => date.getUTCMinutes()),
  'agg.second': part((date) => date.getUTCSeconds()),
  'agg.millisecond': part((date) => date.getUTCMilliseconds()),
  'agg.dayOfWeek': part((date) => date.getUTCDay() + 1),
  'agg.dayOfYear': part(dayOfYear),
  'agg.dateTrunc': dateTrunc,
  'agg.dateToString': (...args) => dateToString(args),
};

const dayMs = 86_400_000;

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / dayMs) + 1;
}

function part(read: (date: Date) => number): Eager {
  return (...args) => {
    const [value, zone] = args;
    if (isNullish(value) || (args.length > 1 && isNullish(zone))) return null;
    const ms = millisecondsOf(value, 16006);
    return new Int32(read(new Date(ms + (args.length > 1 ? offsetMs(zone) : 0))));
  };
}

/** Dates, timestamps and object ids carry a time. */
function millisecondsOf(value: Maybe, code: number): number {
  if (value instanceof BsonDate) return value.ms;
  if (value instanceof Timestamp) return Number(value.value >> 32n) * 1000;
  if (value instanceof ObjectId) return new DataView(value.bytes.buffer, value.bytes.byteOffset, 12).getInt32(0) * 1000;
  throw new QueryError(code, `can't convert from ${typeName(value)} to a date`);
}

function offsetMs(zone: Maybe): number {
  if (typeof zone !== 'string')
    throw new QueryError(40517, `timezone must evaluate to a string, found ${typeName(zone)}`);
  const minutes = zoneMinutes(zone);
  if (minutes !== undefined) return minutes * 60_000;
  if (/^[A-Za-z_]+\/[A-Za-z_+/-]+$/.test(zone)) {
    throw new QueryError('NotImplemented', `time zones by name ('${zone}') arrive in a later version`, {
      hint: 'use UTC or an offset such as +02:00',
    });
  }
  throw new QueryError(40485, `unrecognized time zone identifier: '${zone}'`);
}

const units: Readonly<Record<string, number>> = {
  millisecond: 1,
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: dayMs,
  week: 7 * dayMs,
};
const months: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12 };
const weekdays: readonly string[] = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** Bins count from 2000-01-01T00:00 in the zone, weeks from the first start of a week after it. */
function dateTrunc(value: Maybe, unit: Maybe, binSize: Maybe, zone: Maybe, startOfWeek: Maybe): Maybe {
  if ([value, unit, binSize, zone, startOfWeek].some(isNullish)) return null;
  const ms = millisecondsOf(value, 5439012);
  if (typeof unit !== 'string')
    throw new QueryError(5439013, `$dateTrunc: unit must be a string, found ${typeName(unit)}`);
  if (units[unit] === undefined && months[unit] === undefined) {
    throw new QueryError(
      'FailedToParse',
      `$dateTrunc: unknown time unit '${unit}', expected ${[...Object.keys(units), ...Object.keys(months)].join(', ')}`,
    );
  }
  if (!isNumeric(binSize))
    throw new QueryError(5439017, `$dateTrunc: binSize must be a whole number, found ${typeName(binSize)}`);
  const size = Number(plainNumber(binSize, '$dateTrunc', 5439017));
  if (!Number.isInteger(size))
    throw new QueryError(5439017, `$dateTrunc: binSize must be a whole number, found ${size}`);
  if (size <= 0) throw new QueryError(5439018, `$dateTrunc: binSize must be positive, found ${size}`);
  const offset = offsetMs(zone);
  const local = ms + offset;
  if (months[unit] !== undefined) return new BsonDate(truncMonths(local, months[unit] * size) - offset);
  const step = units[unit]! * size;
  const origin = Date.UTC(2000, 0, 1) + (unit === 'week' ? weekShift(startOfWeek) : 0);
  return new BsonDate(origin + Math.floor((local - origin) / step) * step - offset);
}

/** 2000-01-01 was a Saturday. */
function weekShift(startOfWeek: Maybe): number {
  const name = typeof startOfWeek === 'string' ? startOfWeek.toLowerCase() : undefined;
  if (name === undefined)
    throw new QueryError(5439015, `$dateTrunc: startOfWeek must be a string, found ${typeName(startOfWeek)}`);
  const day = weekdays.findIndex((weekday) => weekday === name || weekday.slice(0, 3) === name);
  if (day < 0) throw new QueryError('FailedToParse', `$dateTrunc: unknown day of week '${startOfWeek}'`);
  return ((day - 6 + 7) % 7) * dayMs;
}

function truncMonths(local: number, step: number): number {
  const date = new Date(local);
  const month = (date.getUTCFullYear() - 2000) * 12 + date.getUTCMonth();
  const start = Math.floor(month / step) * step;
  const result = new Date(0);
  result.setUTCFullYear(2000 + Math.floor(start / 12), ((start % 12) + 12) % 12, 1);
  return result.getTime();
}

function dateToString(args: readonly Maybe[]): Maybe {
  const [value, format, zone, onNull] = args;
  if (typeof format !== 'string' && !isNullish(format)) {
    throw new QueryError(18533, `$dateToString requires that 'format' be a string, found ${typeName(format)}`);
  }
  if (typeof format === 'string') checkFormat(format);
  if (isNullish(value)) return args.length > 3 ? onNull : null;
  if (isNullish(format) || isNullish(zone)) return null;
  const ms = millisecondsOf(value, 16006);
  const offset = offsetMs(zone);
  const date = new Date(ms + offset);
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999))
    throw new QueryError(18537, `$dateToString is only defined on year 0-9999, found ${year}`);
  return String(format).replace(/%(.)/g, (_, letter: string) => formatters[letter]!(date, offset / 60_000));
}

function checkFormat(format: string): void {
  for (const [, letter] of format.matchAll(/%(.?)/gs)) {
    if (letter === '')
      throw new QueryError(18535, "unmatched '%' at end of $dateToString/$dateFromString format string");
    if (formatters[letter!] === undefined) {
      throw new QueryError(
        18536,
        `invalid format character '%${letter}' in $dateToString/$dateFromString format string`,
      );
    }
  }
}

const monthNames: readonly string[] =
  'January February March April May June July August September October November December'.split(' ');
const pad = (value: number, width = 2): string => String(value).padStart(width, '0');

const formatters: Readonly<Record<string, (date: Date, zoneMinutes: number) => string>> = {
  '%': () => '%',
  b: (date) => monthNames[date.getUTCMonth()]!.slice(0, 3),
  B: (date) => monthNames[date.getUTCMonth()]!,
  d: (date) => pad(date.getUTCDate()),
  G: (date) => pad(isoWeek(date).year, 4),
  H: (date) => pad(date.getUTCHours()),
  j: (date) => pad(dayOfYear(date), 3),
  L: (date) => pad(date.getUTCMilliseconds(), 3),
  m: (date) => pad(date.getUTCMonth() + 1),
  M: (date) => pad(date.getUTCMinutes()),
  S: (date) => pad(date.getUTCSeconds()),
  u: (date) => String(date.getUTCDay() || 7),
  U: (date) => pad(Math.floor((dayOfYear(date) + 6 - date.getUTCDay()) / 7)),
  V: (date) => pad(isoWeek(date).week),
  w: (date) => String(date.getUTCDay() + 1),
  Y: (date) => pad(date.getUTCFullYear(), 4),
  z: (_, zone) => `${zone < 0 ? '-' : '+'}${pad(Math.floor(Math.abs(zone) / 60))}${pad(Math.abs(zone) % 60)}`,
  Z: (_, zone) => String(zone),
};

function isoWeek(date: Date): { year: number; week: number } {
  const thursday = new Date(date.getTime() + (4 - (date.getUTCDay() || 7)) * dayMs);
  return { year: thursday.getUTCFullYear(), week: Math.ceil(dayOfYear(thursday) / 7) };
}

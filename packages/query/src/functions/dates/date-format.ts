/** The format of $dateToString and $dateFromString: letters after a percent sign. */

import { isNullish, typeName } from '../../bson/type.ts';
import type { BsonValue } from '../../bson/value.ts';
import type { Evaluate } from '../../execute/expressions/scope.ts';
import { call, type Expr } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { type Functions, lazy, type OperandContext } from '../definition.ts';
import { namedFields, parsedOr } from '../named-fields.ts';
import { civilOf, dayOfYear, isoWeekOf, weekdayOf, weekOfYear } from './calendar.ts';
import { splitDays } from './date-parts.ts';
import { monthNames } from './date-text.ts';
import { millisecondsOf } from './date-value.ts';
import { type Zone, zoneOrNone } from './time-zone.ts';

export const dateFormatFunctions: Functions = {
  'agg.dateToString': lazy({ mql: parseDateToString, size: 'grows', numberTypes: 'none' }, dateToString),
  // Without a format.
  'agg.dateToIsoString': lazy({}, dateToIsoString),
};

const isoFormat = '%Y-%m-%dT%H:%M:%S.%L';

/** Arguments: date, timezone, format if given, and onNull if given. */
function parseDateToString(operand: BsonValue, { at, parse }: OperandContext): Expr {
  const given = namedFields(operand, {
    required: { date: 18628 },
    optional: ['format', 'timezone', 'onNull'],
    notObject: 18629,
    unknown: 18534,
  });
  const zone = parsedOr(given.get('timezone'), parse, 'UTC');
  const rest = ['format', 'onNull'].filter((name) => given.has(name)).map((name) => parse(given.get(name)!));
  const fn = given.has('format') ? 'agg.dateToString' : 'agg.dateToIsoString';
  return call(fn, [parse(given.get('date')!), zone, ...rest], at);
}

/** Arguments: date, timezone, format, onNull; the last one is evaluated only if needed. */
function dateToString([date, timezone, format, onNull]: readonly Evaluate[]): Evaluate {
  return (frame) => {
    const text = format!(frame);
    if (typeof text === 'string') checkFormat(text, toTextLetters);
    else if (!isNullish(text)) {
      throw new QueryError(18533, `$dateToString requires that 'format' be a string, found ${typeName(text)}`);
    }
    const value = date!(frame);
    const zone = zoneOrNone(timezone!(frame));
    if (isNullish(value)) return onNull === undefined ? null : onNull(frame);
    if (typeof text !== 'string' || zone === undefined) return null;
    return formatTime(millisecondsOf(value, 16006), zone, text);
  };
}

/** Without a format: ISO 8601, with a Z in UTC. */
function dateToIsoString([date, timezone, onNull]: readonly Evaluate[]): Evaluate {
  return (frame) => {
    const value = date!(frame);
    const zone = zoneOrNone(timezone!(frame));
    if (isNullish(value)) return onNull === undefined ? null : onNull(frame);
    return zone === undefined ? null : isoText(millisecondsOf(value, 16006), zone);
  };
}

/** @throws QueryError 18537 for years with more than four digits */
export function isoText(ms: number, zone: Zone): string {
  return formatTime(ms, zone, zone.isUtc ? `${isoFormat}Z` : isoFormat);
}

const toTextLetters = 'bBdGHjLmMSuUVwYzZ';

/** @param letters allowed after a percent sign, besides another percent sign */
export function checkFormat(format: string, letters: string): void {
  for (const [, letter] of format.matchAll(/%(.?)/gs)) {
    if (letter === '') {
      throw new QueryError(18535, "unmatched '%' at end of $dateToString/$dateFromString format string");
    }
    if (letter !== '%' && !letters.includes(letter!)) {
      throw new QueryError(
        18536,
        `invalid format character '%${letter}' in $dateToString/$dateFromString format string`,
      );
    }
  }
}

interface Clock {
  readonly days: number;
  readonly ms: number;
  readonly zoneMinutes: number;
}

function formatTime(instant: number, zone: Zone, format: string): string {
  const offset = zone.offsetAt(instant);
  const clock = { ...splitDays(instant + offset), zoneMinutes: Math.trunc(offset / 60_000) };
  const { year } = civilOf(clock.days);
  if (!(year >= 0 && year <= 9999)) {
    throw new QueryError(18537, `$dateToString is only defined on year 0-9999, found ${year}`);
  }
  return format.replace(/%(.)/gs, (_, letter: string) => formatters[letter]!(clock));
}

const pad = (value: number, width = 2): string => String(value).padStart(width, '0');

function sign(minutes: number): string {
  return minutes < 0 ? '-' : '+';
}

const formatters: Readonly<Record<string, (clock: Clock) => string>> = {
  '%': () => '%',
  b: ({ days }) => monthNames[civilOf(days).month - 1]!.slice(0, 3),
  B: ({ days }) => monthNames[civilOf(days).month - 1]!,
  d: ({ days }) => pad(civilOf(days).day),
  G: ({ days }) => pad(isoWeekOf(days).year, 4),
  H: ({ ms }) => pad(Math.floor(ms / 3_600_000)),
  j: ({ days }) => pad(dayOfYear(days), 3),
  L: ({ ms }) => pad(ms % 1000, 3),
  m: ({ days }) => pad(civilOf(days).month),
  M: ({ ms }) => pad(Math.floor(ms / 60_000) % 60),
  S: ({ ms }) => pad(Math.floor(ms / 1000) % 60),
  u: ({ days }) => String(weekdayOf(days) || 7),
  U: ({ days }) => pad(weekOfYear(days)),
  V: ({ days }) => pad(isoWeekOf(days).week),
  w: ({ days }) => String(weekdayOf(days) + 1),
  Y: ({ days }) => pad(civilOf(days).year, 4),
  z: ({ zoneMinutes: zone }) => `${sign(zone)}${pad(Math.floor(Math.abs(zone) / 60))}${pad(Math.abs(zone) % 60)}`,
  Z: ({ zoneMinutes: zone }) => String(zone),
};

/** $dateFromParts: numbers beyond their ranges carry over into the next unit. */

import { describe } from '../../bson/describe.ts';
import { isNullish, isNumeric } from '../../bson/type.ts';
import { BsonDate, type BsonValue, type Maybe } from '../../bson/value.ts';
import { call, type Expr } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { eager, type Functions, type OperandContext } from '../definition.ts';
import { namedFields, parsedOr } from '../named-fields.ts';
import { exactWhole, maxLong, minLong } from '../numbers/number.ts';
import { dayMs, daysOf, daysOfIsoWeek } from './calendar.ts';
import { toInstant, zoneOrNone } from './time-zone.ts';

const civilNames = ['year', 'month', 'day'] as const;
const isoNames = ['isoWeekYear', 'isoWeek', 'isoDayOfWeek'] as const;
const clockNames = ['hour', 'minute', 'second', 'millisecond'] as const;
/** For these, any whole number is valid. */
const unbounded: ReadonlySet<string> = new Set(['year', 'isoWeekYear', 'second', 'millisecond']);

export const dateFromPartsFunctions: Functions = {
  'agg.dateFromParts': eager({ mql: parseDateFromParts, folding: 'early' }, (...args) => dateFromParts(false, args)),
  'agg.dateFromIsoParts': eager({}, (...args) => dateFromParts(true, args)),
};

/** Arguments: year, month, day, or those of the ISO week; then the time and the zone. */
function parseDateFromParts(operand: BsonValue, { at, parse }: OperandContext): Expr {
  const given = namedFields(operand, {
    required: {},
    optional: [...civilNames, ...isoNames, ...clockNames, 'timezone'],
    notObject: 40519,
    unknown: 40518,
  });
  if (!given.has('year') && !given.has('isoWeekYear'))
    throw new QueryError(40516, "$dateFromParts needs 'year' or 'isoWeekYear'");
  if (given.has('year') && isoNames.some((name) => given.has(name))) {
    throw new QueryError(40489, '$dateFromParts does not mix dates of months with those of ISO weeks');
  }
  if (given.has('isoWeekYear') && civilNames.some((name) => given.has(name))) {
    throw new QueryError(40525, '$dateFromParts does not mix dates of ISO weeks with those of months');
  }
  const byWeek = given.has('isoWeekYear');
  const args = [...(byWeek ? isoNames : civilNames), ...clockNames].map((name, index) =>
    parsedOr(given.get(name), parse, index < 3 ? 1 : 0),
  );
  const zone = parsedOr(given.get('timezone'), parse, 'UTC');
  return call(byWeek ? 'agg.dateFromIsoParts' : 'agg.dateFromParts', [...args, zone], at);
}

/**
 * Arguments: year, month, day (or those of the ISO week), hour, minute, second, millisecond, timezone. They are read in MongoDB's order,
 * the time of day first and the zone before the date: the first null or error counts.
 */
function dateFromParts(iso: boolean, args: readonly Maybe[]): Maybe {
  const names = iso ? isoNames : civilNames;
  const clock = numbersOf(clockNames, args.slice(3, 7));
  if (clock === undefined) return null;
  const zone = zoneOrNone(args[7]);
  if (zone === undefined) return null;
  const date = numbersOf(names, args.slice(0, 3));
  if (date === undefined) return null;
  const [[hour, minute, second, millisecond], [year, month, day]] = [clock as Four, date as Three];
  if (year < 1 || year > 9999) {
    throw new QueryError(iso ? 31095 : 40523, `'${names[0]}' must be a whole number from 1 to 9999, found ${year}`);
  }
  const days = iso ? daysOfIsoWeek(year, month, day) : daysOf(year, month, day);
  const local = days * dayMs + hour * 3_600_000 + minute * 60_000 + second * 1000 + millisecond;
  return new BsonDate(toInstant(zone, local));
}

type Three = [number, number, number];
type Four = [number, number, number, number];

/** Undefined if one of them is null, whatever follows it. */
function numbersOf(names: readonly string[], values: readonly Maybe[]): number[] | undefined {
  const numbers: number[] = [];
  for (const [index, name] of names.entries()) {
    const value = values[index];
    if (isNullish(value)) return undefined;
    const number = wholeOf(value, name);
    if (!unbounded.has(name) && (number < -32_768 || number > 32_767)) {
      throw new QueryError(31034, `'${name}' must be a whole number from -32768 to 32767, found ${number}`);
    }
    numbers.push(number);
  }
  return numbers;
}

function wholeOf(value: Maybe, name: string): number {
  const whole = isNumeric(value) ? exactWhole(value) : undefined;
  if (whole !== undefined && whole >= minLong && whole <= maxLong) return Number(whole);
  throw new QueryError(40515, `'${name}' must evaluate to a whole number of 64 bits, found ${describe(value ?? null)}`);
}

/** $year … $isoWeekYear and $dateToParts. */
import { isNullish, typeName } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Int32, type Maybe, Timestamp } from '../../bson/value.ts';
import { call, type Expr } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { datePart, named } from '../../sql/types/signature.ts';
import { type Eager, eager, type FunctionDefinition, type Functions, type OperandContext } from '../definition.ts';
import { fieldsInOrder, namedFields } from '../named-fields.ts';
import { civilOf, dayMs, dayOfYear, isoWeekOf, weekdayOf, weekOfYear } from './calendar.ts';
import { millisecondsOf } from './date-value.ts';
import { utc, zoneOf } from './time-zone.ts';

/** @param days since 1970-01-01. @param ms of that day. */
type Read = (days: number, ms: number) => number;

const hour: Read = (_, ms) => Math.floor(ms / 3_600_000);
const minute: Read = (_, ms) => Math.floor(ms / 60_000) % 60;
const second: Read = (_, ms) => Math.floor(ms / 1000) % 60;
const millisecond: Read = (_, ms) => ms % 1000;

/** With their SQL names. */
const parts: Readonly<Record<string, readonly [Read, ...string[]]>> = {
  year: [(days) => civilOf(days).year, 'YEAR'],
  month: [(days) => civilOf(days).month, 'MONTH'],
  dayOfMonth: [(days) => civilOf(days).day, 'DAY', 'DAYOFMONTH'],
  hour: [hour, 'HOUR'],
  minute: [minute, 'MINUTE'],
  second: [second, 'SECOND'],
  millisecond: [millisecond, 'MILLISECOND'],
  dayOfYear: [dayOfYear, 'DAYOFYEAR'],
  dayOfWeek: [(days) => weekdayOf(days) + 1, 'DAYOFWEEK'],
  week: [weekOfYear, 'WEEK'],
  isoDayOfWeek: [(days) => isoWeekOf(days).day],
  isoWeek: [(days) => isoWeekOf(days).week],
  isoWeekYear: [(days) => isoWeekOf(days).year],
};

export const dateParts: Functions = {
  ...Object.fromEntries(
    Object.entries(parts).map(([name, [read, ...sqlNames]]) => [`agg.${name}`, part(name, read, sqlNames)]),
  ),
  'agg.dateToParts': {
    mql: fieldsInOrder('agg.dateToParts', {
      required: { date: 40522 },
      defaults: { timezone: 'UTC', iso8601: false },
      notObject: 40524,
      unknown: 40520,
    }),
    eager: toParts,
  },
};

/** Splits a clock time into whole days and the rest. */
export function splitDays(localMs: number): { days: number; ms: number } {
  const days = Math.floor(localMs / dayMs);
  return { days, ms: localMs - days * dayMs };
}

function part(name: string, read: Read, sqlNames: readonly string[]): FunctionDefinition {
  // Only the ISO year is an int64.
  const isLong = name === 'isoWeekYear';
  return {
    mql: (operand, context) => parsePart(name, operand, context),
    ...(!isLong && { sql: named(datePart, ...sqlNames.map((sqlName) => [sqlName, 1, 1] as const)) }),
    size: 'bounded',
    eager: reader(read, isLong ? BigInt : (number) => new Int32(number)),
  };
}

/** Arguments: date, timezone. */
function reader(read: Read, wrap: (number: number) => bigint | Int32): Eager {
  return (...args) => {
    const [value, zone] = args;
    if (isNullish(value)) return null;
    const instant = millisecondsOf(value, 16006);
    if (args.length > 1 && isNullish(zone)) return null;
    const offset = args.length > 1 ? zoneOf(zone).offsetAt(instant) : 0;
    const { days, ms } = splitDays(instant + offset);
    return wrap(read(days, ms));
  };
}

/** From 1 to 4. */
export const quarter: Eager = reader(
  (days) => Math.ceil(civilOf(days).month / 3),
  (number) => new Int32(number),
);

/** `{$year: date}`, `{$year: [date]}` or `{$year: {date, timezone}}`. */
function parsePart(part: string, operand: BsonValue, { at, parse }: OperandContext): Expr {
  if (operand instanceof BsonDocument && ![...operand.keys()][0]?.startsWith('$')) {
    const given = namedFields(operand, {
      required: { date: 40539 },
      optional: ['timezone'],
      notObject: 40535,
      unknown: 40535,
    });
    const zone = given.get('timezone');
    return call(`agg.${part}`, [parse(given.get('date')!), ...(zone === undefined ? [] : [parse(zone)])], at);
  }
  const operands = Array.isArray(operand) ? operand : [operand];
  if (operands.length !== 1) {
    throw new QueryError(40536, `$${part} takes exactly one date, found ${operands.length} arguments`);
  }
  return call(`agg.${part}`, [parse(operands[0]!)], at);
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

/** $tsSecond and $tsIncrement: the two halves of a timestamp. */
export const timestamp: Functions = {
  'agg.tsSecond': eager({ mql: 1 }, (value) => half(value, '$tsSecond', 5687301, (bits) => bits >> 32n)),
  'agg.tsIncrement': eager({ mql: 1 }, (value) => half(value, '$tsIncrement', 5687302, (bits) => bits & 0xffffffffn)),
};

function half(value: Maybe, name: string, code: number, read: (bits: bigint) => bigint): Maybe {
  if (isNullish(value)) return null;
  if (value instanceof Timestamp) return read(BigInt.asUintN(64, value.value));
  throw new QueryError(code, `${name} takes a timestamp, found ${typeName(value)}`);
}

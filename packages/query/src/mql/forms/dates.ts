/** Operators on dates: their arguments are named, and stand in a fixed order in the call. */

import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import { call, type Expr, literal } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import type { SpecialForm } from './form.ts';
import { type Fields, namedParts } from './named-parts.ts';

const parts =
  'year month dayOfMonth hour minute second millisecond dayOfWeek dayOfYear week isoDayOfWeek isoWeek isoWeekYear'.split(
    ' ',
  );

const shiftFields: Fields = {
  required: ['startDate', 'unit', 'amount'],
  optional: ['timezone'],
  notObject: 5166400,
  unknown: 5166401,
  missing: 5166402,
};

export const dateForms: Readonly<Record<string, SpecialForm>> = {
  ...Object.fromEntries(parts.map((part) => [`$${part}`, datePart(part)])),
  $dateAdd: named('dateAdd', shiftFields, ['startDate', 'unit', 'amount', 'timezone'], { timezone: 'UTC' }),
  $dateSubtract: named('dateSubtract', shiftFields, ['startDate', 'unit', 'amount', 'timezone'], { timezone: 'UTC' }),
  $dateDiff: named(
    'dateDiff',
    {
      required: ['startDate', 'endDate', 'unit'],
      optional: ['timezone', 'startOfWeek'],
      notObject: 5166301,
      unknown: 5166302,
      missing: { startDate: 5166303, endDate: 5166304, unit: 5166305 },
    },
    ['startDate', 'endDate', 'unit', 'timezone', 'startOfWeek'],
    { timezone: 'UTC', startOfWeek: 'sunday' },
  ),
  $dateTrunc: named(
    'dateTrunc',
    {
      required: ['date', 'unit'],
      optional: ['binSize', 'timezone', 'startOfWeek'],
      notObject: 5439007,
      unknown: 5439008,
      missing: { date: 5439009, unit: 5439010 },
    },
    ['date', 'unit', 'binSize', 'timezone', 'startOfWeek'],
    { binSize: 1, timezone: 'UTC', startOfWeek: 'sunday' },
  ),
  $dateToParts: named(
    'dateToParts',
    { required: ['date'], optional: ['timezone', 'iso8601'], notObject: 40524, unknown: 40520, missing: 40522 },
    ['date', 'timezone', 'iso8601'],
    { timezone: 'UTC', iso8601: false },
  ),
  $dateToString: parseDateToString,
  $dateFromString: parseDateFromString,
  $dateFromParts: parseDateFromParts,
};

/** A call with the arguments in that order, and defaults for those that are not given. */
function named(
  fn: string,
  fields: Fields,
  order: readonly string[],
  defaults: Readonly<Record<string, BsonValue>>,
): SpecialForm {
  return (operand, at, _vars, parse) => {
    const given = namedParts(operand, at, fields);
    const args = order.map((name) => (given.has(name) ? parse(given.get(name)!) : literal(defaults[name])));
    return call(`agg.${fn}`, args, at);
  };
}

/** `{$year: date}`, `{$year: [date]}` or `{$year: {date, timezone}}`. */
function datePart(part: string): SpecialForm {
  return (operand, at, _vars, parse) => {
    if (operand instanceof BsonDocument && ![...operand.keys()][0]?.startsWith('$')) {
      const given = namedParts(operand, at, {
        required: ['date'],
        optional: ['timezone'],
        notObject: 40535,
        unknown: 40535,
        missing: 40539,
      });
      const zone = given.get('timezone');
      return call(`agg.${part}`, [parse(given.get('date')!), ...(zone === undefined ? [] : [parse(zone)])], at);
    }
    const operands = Array.isArray(operand) ? operand : [operand];
    if (operands.length !== 1) {
      throw new QueryError(40536, `$${part} takes exactly one date, found ${operands.length} arguments`, { path: at });
    }
    return call(`agg.${part}`, [parse(operands[0]!)], at);
  };
}

/** Arguments: date, timezone, format if there is one, and onNull if there is one. */
function parseDateToString(...[operand, at, , parse]: Parameters<SpecialForm>): Expr {
  const given = namedParts(operand, at, {
    required: ['date'],
    optional: ['format', 'timezone', 'onNull'],
    notObject: 18629,
    unknown: 18534,
    missing: 18628,
  });
  const zone = given.has('timezone') ? parse(given.get('timezone')!) : literal('UTC');
  const rest = ['format', 'onNull'].filter((name) => given.has(name)).map((name) => parse(given.get(name)!));
  const fn = given.has('format') ? 'agg.dateToString' : 'agg.dateToIsoString';
  return call(fn, [parse(given.get('date')!), zone, ...rest], at);
}

/** Arguments: the names of those that are given, as a literal, and their values. */
function parseDateFromString(...[operand, at, , parse]: Parameters<SpecialForm>): Expr {
  const given = namedParts(operand, at, {
    required: ['dateString'],
    optional: ['format', 'timezone', 'onNull', 'onError'],
    notObject: 40540,
    unknown: 40541,
    missing: 40542,
  });
  return call(
    'agg.dateFromString',
    [literal([...given.keys()]), ...[...given.values()].map((each) => parse(each))],
    at,
  );
}

const clockParts = ['hour', 'minute', 'second', 'millisecond'];

/** Arguments: year, month, day, or those of the ISO week; then the time and the zone. */
function parseDateFromParts(...[operand, at, , parse]: Parameters<SpecialForm>): Expr {
  const civil = ['year', 'month', 'day'];
  const iso = ['isoWeekYear', 'isoWeek', 'isoDayOfWeek'];
  const given = namedParts(operand, at, {
    required: [],
    optional: [...civil, ...iso, ...clockParts, 'timezone'],
    notObject: 40519,
    unknown: 40518,
    missing: 40516,
  });
  const fail = (code: number, reason: string): QueryError => new QueryError(code, reason, { path: at });
  if (!given.has('year') && !given.has('isoWeekYear'))
    throw fail(40516, "$dateFromParts needs 'year' or 'isoWeekYear'");
  if (given.has('year') && iso.some((name) => given.has(name))) {
    throw fail(40489, '$dateFromParts does not mix dates of months with those of ISO weeks');
  }
  if (given.has('isoWeekYear') && civil.some((name) => given.has(name))) {
    throw fail(40525, '$dateFromParts does not mix dates of ISO weeks with those of months');
  }
  const byWeek = given.has('isoWeekYear');
  const args = [...(byWeek ? iso : civil), ...clockParts].map((name, index) =>
    given.has(name) ? parse(given.get(name)!) : literal(index < 3 ? 1 : 0),
  );
  const zone = given.has('timezone') ? parse(given.get('timezone')!) : literal('UTC');
  return call(byWeek ? 'agg.dateFromIsoParts' : 'agg.dateFromParts', [...args, zone], at);
}

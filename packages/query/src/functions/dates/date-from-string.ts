/** $dateFromString: parses a text by a format, or in one of the common forms. */

import { isNullish, typeName } from '../../bson/type.ts';
import { BsonDate, type Maybe } from '../../bson/value.ts';
import type { Evaluate } from '../../execute/expressions/scope.ts';
import { QueryError } from '../../query-error.ts';
import { type Functions, lazy } from '../definition.ts';
import { argumentsByName, callWithNames, type Fields, namedFields } from '../named-fields.ts';
import { dayMs, daysOf, daysOfIsoWeek, daysOfMonth } from './calendar.ts';
import { checkFormat } from './date-format.ts';
import { monthOf, readTime, type WrittenTime } from './date-text.ts';
import { findZone, toInstant, utc, type Zone, zoneOrNone } from './time-zone.ts';

const conversionFailure = 241;

const fields: Fields = {
  required: { dateString: 40542 },
  optional: ['format', 'timezone', 'onNull', 'onError'],
  notObject: 40540,
  unknown: 40541,
};

export const dateFromStringFunctions: Functions = {
  'agg.dateFromString': lazy(
    {
      mql: (operand, context) => callWithNames('agg.dateFromString', namedFields(operand, fields), context),
      folding: 'early',
    },
    dateFromString,
  ),
};

function dateFromString(args: readonly Evaluate[]): Evaluate {
  const given = argumentsByName(args);
  const [dateString, timezone, format] = ['dateString', 'timezone', 'format'].map((name) => given.get(name));
  const [onNull, onError] = [given.get('onNull'), given.get('onError')];
  return (frame) => {
    const shape = format?.(frame);
    if (!isNullish(shape)) checkShape(shape);
    const text = dateString?.(frame);
    const zone = timezone === undefined ? utc : zoneOrNone(timezone(frame));
    if (isNullish(text)) return onNull === undefined ? null : onNull(frame);
    try {
      checkText(text);
      if (zone === undefined || (format !== undefined && isNullish(shape))) return null;
      return new BsonDate(readInstant(text, zone, typeof shape === 'string' ? shape : undefined));
    } catch (error) {
      if (onError !== undefined && error instanceof QueryError && error.code === conversionFailure)
        return onError(frame);
      throw error;
    }
  };
}

function checkShape(shape: Maybe): void {
  if (typeof shape !== 'string') {
    throw new QueryError(40684, `$dateFromString requires that 'format' be a string, found ${typeName(shape)}`);
  }
  checkFormat(shape, 'bBdGHjLmMSuVYzZ');
}

function checkText(text: Maybe): asserts text is string {
  if (typeof text === 'string') return;
  throw new QueryError(
    'ConversionFailure',
    `$dateFromString requires that 'dateString' be a string, found ${typeName(text)}`,
  );
}

function readInstant(text: string, zone: Zone, format: string | undefined): number {
  const written = format === undefined ? readTime(text) : readByFormat(text, format);
  if (written === undefined) {
    throw new QueryError('ConversionFailure', `cannot read the date '${text.slice(0, 80)}'`);
  }
  if (written.zone !== undefined && !zone.isUtc) {
    throw new QueryError('ConversionFailure', 'the text names a time zone, so there must be no timezone argument');
  }
  return toInstant(written.zone ?? zone, written.localMs);
}

const numbers = {
  Y: ['year', /\d{4}/y],
  m: ['month', /\d{1,2}/y],
  d: ['day', /\d{1,2}/y],
  j: ['dayOfYear', /\d{1,3}/y],
  G: ['isoYear', /\d{4}/y],
  V: ['isoWeek', /\d{1,2}/y],
  u: ['isoDay', /[1-7]/y],
  H: ['hour', /\d{1,2}/y],
  M: ['minute', /\d{2}/y],
  S: ['second', /\d{2}/y],
  L: ['ms', /\d{1,3}/y],
} as const satisfies Record<string, readonly [string, RegExp]>;

type Letter = keyof typeof numbers;
type Field = (typeof numbers)[Letter][0];

/** Undefined for a text that does not match, or lacks a part of the date. */
function readByFormat(text: string, format: string): WrittenTime | undefined {
  const fields = new Map<Field, number>();
  let zone: Zone | undefined;
  let at = 0;
  const take = (shape: RegExp): string | undefined => {
    shape.lastIndex = at;
    const found = shape.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };
  for (let index = 0; index < format.length; index++) {
    const char = format[index]!;
    const letter = char === '%' ? format[++index]! : undefined;
    if (letter === undefined || letter === '%') {
      if (text[at++] !== char) return undefined;
    } else if (letter === 'b' || letter === 'B') {
      const month = monthOf(take(/[A-Za-z]{3,9}/y) ?? '');
      if (month === undefined) return undefined;
      fields.set('month', month);
    } else if (letter === 'z') {
      zone = findZone(take(/[+-]\d{2}:?\d{2}|[+-]\d{2}|Z|[A-Za-z_]+(?:\/[A-Za-z_]+)*/y)?.replace(/^Z$/, 'UTC') ?? '');
      if (zone === undefined) return undefined;
    } else if (letter === 'Z') {
      const minutes = take(/[+-]?\d{1,4}/y);
      if (minutes === undefined) return undefined;
      zone = { isUtc: false, offsetAt: () => Number(minutes) * 60_000 };
    } else {
      const [field, shape] = numbers[letter as Letter];
      const digits = take(shape);
      if (digits === undefined) return undefined;
      fields.set(field, Number(field === 'ms' ? digits.padEnd(3, '0') : digits));
    }
  }
  if (at !== text.length) return undefined;
  const days = daysBy(fields);
  const ms = clockBy(fields);
  return days === undefined || ms === undefined ? undefined : { localMs: days * dayMs + ms, zone };
}

function daysBy(fields: ReadonlyMap<Field, number>): number | undefined {
  const isoYear = fields.get('isoYear');
  if (isoYear !== undefined) {
    const week = fields.get('isoWeek') ?? 1;
    return week < 1 || week > 53 ? undefined : daysOfIsoWeek(isoYear, week, fields.get('isoDay') ?? 1);
  }
  const [year, month, day, ordinal] = (['year', 'month', 'day', 'dayOfYear'] as const).map((name) => fields.get(name));
  if (year === undefined) return undefined;
  if (ordinal !== undefined) return ordinal < 1 || ordinal > 366 ? undefined : daysOf(year, 1, ordinal);
  if (month === undefined || day === undefined || month < 1 || month > 12) return undefined;
  return day < 1 || day > daysOfMonth(year, month) ? undefined : daysOf(year, month, day);
}

function clockBy(fields: ReadonlyMap<Field, number>): number | undefined {
  const read = (name: Field): number => fields.get(name) ?? 0;
  const [hour, minute, second, ms] = [read('hour'), read('minute'), read('second'), read('ms')];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return hour * 3_600_000 + minute * 60_000 + second * 1000 + ms;
}

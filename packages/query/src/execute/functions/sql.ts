/**
 * Functions of SQL. Three-valued: null or missing in, null out, except where a rule of AND and OR decides already.
 * Comparisons follow the BSON order, as the reference dialect does.
 */

import { compareValues } from '../../bson/compare.ts';
import { compileRegex } from '../../bson/compile-regex.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import { Binary, BsonDate, Int32, type Maybe, Regex } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { maxValueBytes, tooLarge } from '../built.ts';
import { arithmetic } from './arithmetic.ts';
import { conversion, textOf } from './convert.ts';
import type { Eager, Lazy } from './registry.ts';

export const sql: Readonly<Record<string, Eager>> = {
  'sql.eq': compared((order) => order === 0),
  'sql.ne': compared((order) => order !== 0),
  'sql.gt': compared((order) => order > 0),
  'sql.gte': compared((order) => order >= 0),
  'sql.lt': compared((order) => order < 0),
  'sql.lte': compared((order) => order <= 0),
  'sql.not': (value) => (isNullish(value) ? null : !truth(value)),
  'sql.isNull': (value) => isNullish(value),
  'sql.isMissing': (value) => value === undefined,
  'sql.divide': divide,
  'sql.mod': (a, b) => (isZero(b) ? null : arithmetic['agg.mod']!(a, b)),
  'sql.negate': (value) => arithmetic['agg.multiply']!(value, new Int32(-1)),
  'sql.in': (value, ...list) => {
    if (isNullish(value)) return null;
    if (list.some((item) => !isNullish(item) && compareValues(value, item) === 0)) return true;
    return list.some(isNullish) ? null : false;
  },
  'sql.like': like,
  'sql.concat': (...values) => {
    if (values.some(isNullish)) return null;
    let text = '';
    for (const value of values) {
      text += textOf(value) ?? fail(`|| takes strings, found ${typeName(value)}`);
      if (text.length > maxValueBytes) throw tooLarge();
    }
    return text;
  },
  'sql.upper': (value) => onText(value, 'UPPER', (text) => text.toUpperCase()),
  'sql.lower': (value) => onText(value, 'LOWER', (text) => text.toLowerCase()),
  'sql.length': (value) => (isNullish(value) ? null : new Int32(Array.from(text(value, 'CHAR_LENGTH')).length)),
  'sql.substring': (value, start, length) => {
    if (isNullish(value) || isNullish(start) || (length !== undefined && isNullish(length))) return null;
    const from = Number(conversion['agg.toDouble']!(start)) - 1;
    const to = length === undefined ? undefined : from + Number(conversion['agg.toDouble']!(length));
    return Array.from(text(value, 'SUBSTRING'))
      .slice(Math.max(0, from), to === undefined ? undefined : Math.max(0, to))
      .join('');
  },
  'sql.castString': (value) => (value instanceof Binary ? null : orNull(() => conversion['agg.toString']!(value))),
  'sql.castInt': (value) => orNull(() => conversion['agg.toInt']!(value)),
  'sql.castLong': (value) => orNull(() => conversion['agg.toLong']!(value)),
  'sql.castDouble': (value) => orNull(() => conversion['agg.toDouble']!(value)),
  'sql.castBool': (value) => orNull(() => conversion['agg.toBool']!(value)),
  'sql.castTimestamp': (value) =>
    orNull(() => (value instanceof Int32 ? new BsonDate(value.value) : conversion['agg.toDate']!(value))),
  'sql.size': (value) =>
    Array.isArray(value)
      ? new Int32(value.length)
      : isNullish(value)
        ? null
        : fail(`SIZE takes an array, found ${typeName(value)}`),
};

export const sqlLazy: Readonly<Record<string, Lazy>> = {
  'sql.and': (args) => (frame) => {
    let known = true;
    for (const arg of args) {
      const value = arg(frame);
      if (isNullish(value)) known = false;
      else if (!truth(value)) return false;
    }
    return known ? true : null;
  },
  'sql.or': (args) => (frame) => {
    let known = true;
    for (const arg of args) {
      const value = arg(frame);
      if (isNullish(value)) known = false;
      else if (truth(value)) return true;
    }
    return known ? false : null;
  },
  // Arguments in turn: when, then, when, then, …, else.
  'sql.case': (args) => (frame) => {
    for (let index = 0; index + 1 < args.length; index += 2) {
      if (args[index]!(frame) === true) return args[index + 1]!(frame);
    }
    return args.at(-1)!(frame);
  },
};

function fail(reason: string): never {
  throw new QueryError('TypeMismatch', reason);
}

function compared(holds: (order: number) => boolean): Eager {
  return (a, b) => (isNullish(a) || isNullish(b) ? null : holds(compareValues(a, b)));
}

function truth(value: Maybe): boolean {
  return typeof value === 'boolean' ? value : fail(`a condition must be true or false, found ${typeName(value)}`);
}

function text(value: Maybe, name: string): string {
  return textOf(value) ?? fail(`${name} takes a string, found ${typeName(value)}`);
}

function onText(value: Maybe, name: string, change: (text: string) => string): Maybe {
  return isNullish(value) ? null : change(text(value, name));
}

function isZero(value: Maybe): boolean {
  return !isNullish(value) && compareValues(value, 0) === 0;
}

/** Division by zero is null; whole numbers divide to a whole number. */
function divide(a: Maybe, b: Maybe): Maybe {
  if (isNullish(a) || isNullish(b) || isZero(b)) return null;
  const whole = (value: Maybe): value is Int32 | bigint => value instanceof Int32 || typeof value === 'bigint';
  if (!whole(a) || !whole(b)) return arithmetic['agg.divide']!(a, b);
  const quotient = BigInt(a instanceof Int32 ? a.value : a) / BigInt(b instanceof Int32 ? b.value : b);
  return a instanceof Int32 && b instanceof Int32
    ? new Int32(Number(BigInt.asIntN(32, quotient)))
    : BigInt.asIntN(64, quotient);
}

/** A cast that fails gives null, the dialect's default. */
function orNull(cast: () => Maybe): Maybe {
  try {
    return cast() ?? null;
  } catch (error) {
    if (error instanceof QueryError) return null;
    throw error;
  }
}

/** `%` is any text, `_` one character; the third argument is the character that makes them literal. */
function like(value: Maybe, pattern: Maybe, escaping: Maybe): Maybe {
  if (isNullish(value) || isNullish(pattern)) return null;
  const escaped = typeof escaping === 'string' ? escaping : '';
  let source = '';
  const chars = Array.from(text(pattern, 'LIKE'));
  for (let index = 0; index < chars.length; index++) {
    const char = chars[index]!;
    const literal = char === escaped && index + 1 < chars.length;
    if (!literal && char === '%') source += '.*';
    else if (!literal && char === '_') source += '.';
    else source += (literal ? chars[++index]! : char).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  }
  // Case does not count, as in the reference dialect.
  return compileRegex(new Regex(`^${source}$`, 'is'))(text(value, 'LIKE'));
}

/** $concat, $toUpper, $toLower, $strcasecmp, $strLenCP, $strLenBytes. */
import { compareText } from '../../bson/compare.ts';
import { decimalParts } from '../../bson/decimal.ts';
import { describe } from '../../bson/describe.ts';
import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import { type Decimal128, Int32, type Maybe, Timestamp } from '../../bson/value.ts';
import { maxValueBytes, tooLarge } from '../../execute/limits/size-limits.ts';
import { QueryError } from '../../query-error.ts';
import { atLeast, eager, type Functions } from '../definition.ts';
import { maxLong, minLong, requireInt32 } from '../numbers/number.ts';
import { afterCodePoints, countCodePoints, utf8Length } from './code-points.ts';
import { shortDoubleText, textOf } from './value-text.ts';

export const string: Functions = {
  'agg.concat': eager({ mql: atLeast(0), size: 'grows', folding: 'early', numberTypes: 'none' }, (...values) => {
    let text = '';
    for (const value of values) {
      if (isNullish(value)) return null;
      if (typeof value === 'string') text += value;
      else throw new QueryError(16702, `$concat only supports strings, not ${typeName(value)}`);
      if (text.length > maxValueBytes) throw tooLarge();
    }
    return text;
  }),
  'agg.toUpper': eager({ mql: 1, size: 'grows', numberTypes: 'none' }, (value) => upper(coerced(value, '$toUpper'))),
  'agg.toLower': eager({ mql: 1, size: 'grows', numberTypes: 'none' }, (value) => lower(coerced(value, '$toLower'))),
  'agg.strcasecmp': eager({ mql: 2 }, (left, right) => {
    const [a, b] = [coerced(left, '$strcasecmp'), coerced(right, '$strcasecmp')];
    return new Int32(Math.sign(compareText(upper(a), upper(b))));
  }),
  'agg.strLenCP': eager({ mql: 1, numberTypes: 'int' }, (value) => {
    if (typeof value !== 'string')
      throw new QueryError(34471, `$strLenCP requires a string argument, found: ${typeName(value)}`);
    return new Int32(countCodePoints(value, 0, value.length));
  }),
  'agg.strLenBytes': eager({ mql: 1, numberTypes: 'int' }, (value) => {
    if (typeof value !== 'string')
      throw new QueryError(34473, `$strLenBytes requires a string argument, found: ${typeName(value)}`);
    return new Int32(utf8Length(value));
  }),
};

/** Only ASCII letters change, as in MongoDB. */
export function upper(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

export function lower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * Converts the other types that string functions accept to texts. Numbers, dates and similar as text, null as the empty text. @throws
 * QueryError 16007 for all others
 */
export function coerced(value: Maybe, name: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : shortDoubleText(value);
  if (isNullish(value)) return '';
  if (value instanceof Timestamp) return timestampText(value);
  const type = typeName(value);
  const text = ['int', 'long', 'double', 'decimal', 'date', 'symbol', 'javascript'].includes(type)
    ? textOf(value)
    : undefined;
  if (text === undefined) throw new QueryError(16007, `${name}: can't convert from ${type} to a string`);
  return text;
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Day and time without a year, and the ordinal: `Jul  2 18:40:00:1`. */
function timestampText({ value }: Timestamp): string {
  const date = new Date(Number(value >> 32n) * 1000);
  const day = String(date.getUTCDate()).padStart(2);
  return `${months[date.getUTCMonth()]} ${day} ${date.toISOString().slice(11, 19)}:${value & 0xffffffffn}`;
}

/** $substrCP, and $substrBytes (also called $substr), which must not split a character. */
export const substring: Functions = {
  'agg.substrCP': eager({ mql: 3, size: 'grows', numberTypes: 'none' }, (value, start, length) => {
    const text = coerced(value, '$substrCP');
    const from = requireInt32(start, 'the starting index of $substrCP', 34451, 34450);
    const count = requireInt32(length, 'the length of $substrCP', 34453, 34452);
    if (count < 0) throw new QueryError(34454, `$substrCP: the length must not be negative, found ${count}`);
    if (from < 0) throw new QueryError(34455, `$substrCP: the starting index must not be negative, found ${from}`);
    const begin = afterCodePoints(text, 0, from);
    return text.slice(begin, afterCodePoints(text, begin, count));
  }),
  'agg.substr': eager({ mql: 3, size: 'grows', numberTypes: 'none' }, substrBytes),
  'agg.substrBytes': eager({ mql: 3, size: 'grows', numberTypes: 'none' }, substrBytes),
};

/** A negative length takes the rest. */
function substrBytes(value: Maybe, start: Maybe, length: Maybe): string {
  const text = coerced(value, '$substrBytes');
  if (!isNumeric(start))
    throw new QueryError(16034, `$substrBytes: the starting index must be a number, found ${typeName(start)}`);
  if (!isNumeric(length))
    throw new QueryError(16035, `$substrBytes: the length must be a number, found ${typeName(length)}`);
  const [from, count] = [toLong(start), toLong(length)];
  if (from < 0)
    throw new QueryError(50752, `$substrBytes: the starting index must not be negative, found ${describe(start)}`);
  const bytes = new TextEncoder().encode(text);
  const end = count < 0 ? bytes.length : Math.min(from + count, bytes.length);
  if (isContinuation(bytes[from]))
    throw new QueryError(28656, '$substrBytes: invalid range, starting in the middle of a UTF-8 character');
  if (isContinuation(bytes[end]))
    throw new QueryError(28657, '$substrBytes: invalid range, ending in the middle of a UTF-8 character');
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(Math.min(from, bytes.length), end));
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Doubles lose their fraction; decimals are rounded, and those beyond 64 bits become the least number. */
function toLong(value: number | bigint | Int32 | Decimal128): number {
  if (value instanceof Int32) return value.value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number') {
    if (!(value >= -(2 ** 63) && value < 2 ** 63))
      throw new QueryError(31109, `$substrBytes: ${value} does not fit a 64-bit whole number`);
    return Math.trunc(value);
  }
  const { kind, negative, coefficient, exponent } = decimalParts(value);
  if (kind !== 'finite' || exponent > 20) return coefficient === 0n && kind === 'finite' ? 0 : Number(minLong);
  const magnitude =
    exponent >= 0 ? coefficient * 10n ** BigInt(exponent) : halfEven(coefficient, 10n ** BigInt(-exponent));
  const whole = negative ? -magnitude : magnitude;
  return Number(whole > maxLong || whole < minLong ? minLong : whole);
}

function halfEven(value: bigint, unit: bigint): bigint {
  const [whole, twice] = [value / unit, (value % unit) * 2n];
  return twice > unit || (twice === unit && whole % 2n === 1n) ? whole + 1n : whole;
}

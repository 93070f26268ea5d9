/** $toString, $toInt, $toLong, $toDouble, $toDate, $toBool, $type. */

import { decimalText, decimalToNumber } from '../../bson/decimal.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import {
  Binary,
  BsonDate,
  BsonSymbol,
  Code,
  Decimal128,
  Int32,
  type Maybe,
  ObjectId,
  Timestamp,
} from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { isTruthy } from '../truth.ts';
import { parseDate } from './date-text.ts';
import { maxLong, minLong } from './number.ts';
import type { Eager } from './registry.ts';

export const conversion: Readonly<Record<string, Eager>> = {
  'agg.toString': (value) => (isNullish(value) ? null : toText(value)),
  'agg.toInt': (value) =>
    isNullish(value) ? null : new Int32(Number(toWhole(value, 'int', -2147483648n, 2147483647n))),
  'agg.toLong': (value) =>
    isNullish(value) ? null : value instanceof BsonDate ? BigInt(value.ms) : toWhole(value, 'long', minLong, maxLong),
  'agg.toDouble': (value) => (isNullish(value) ? null : toDouble(value)),
  'agg.toDate': (value) => (isNullish(value) ? null : toDate(value)),
  'agg.toBool': (value) => (isNullish(value) ? null : toBool(value)),
  'agg.type': (value) => typeName(value),
  'agg.isNumber': (value) => ['int', 'long', 'double', 'decimal'].includes(typeName(value)),
};

function failure(value: Maybe, to: string, why = ''): QueryError {
  const what = typeof value === 'string' ? `'${value.slice(0, 80)}'` : `a value of type ${typeName(value)}`;
  return new QueryError('ConversionFailure', `cannot convert ${what} to ${to}${why === '' ? '' : `: ${why}`}`);
}

/** Text of a double as MongoDB prints it. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (Object.is(value, -0)) return '-0';
  return scientific(value, 16) ?? String(value);
}

/** With an exponent of two digits at least, where the number is below 1e-4 or has more digits before the point than `most`. */
function scientific(value: number, most: number): string | undefined {
  const [mantissa, exponent] = value.toExponential().split('e');
  const power = Number(exponent);
  if (value === 0 || (power >= -4 && power < most)) return undefined;
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** Text of a double with six digits, as string functions (not $toString) print it. */
export function shortDoubleText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  const rounded = Number(value.toPrecision(6));
  return scientific(rounded, 6) ?? doubleText(rounded);
}

/** Text of values that have one; undefined for the others. */
export function textOf(value: Maybe): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return doubleText(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof Int32) return String(value.value);
  if (value instanceof Decimal128) return decimalText(value);
  if (value instanceof BsonDate) return dateText(value);
  if (value instanceof ObjectId) return value.toHex();
  if (value instanceof BsonSymbol) return value.value;
  if (value instanceof Code) return value.code;
  if (value instanceof Timestamp) return new Date(Number(value.value >> 32n) * 1000).toISOString();
  return undefined;
}

function dateText(value: BsonDate): string {
  const date = new Date(value.ms);
  if (Number.isNaN(date.getTime())) throw failure(value, 'string', 'the year is out of range');
  return date.toISOString();
}

function toText(value: Maybe): string {
  const type = typeName(value);
  const text = ['symbol', 'javascript', 'timestamp'].includes(type) ? undefined : textOf(value);
  if (text !== undefined) return text;
  if (value instanceof Binary && value.subtype === 4) {
    const hex = Array.from(value.bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }
  throw failure(value, 'string');
}

function toWhole(value: Maybe, to: string, least: bigint, most: bigint): bigint {
  let whole: bigint;
  if (typeof value === 'bigint') whole = value;
  else if (value instanceof Int32) whole = BigInt(value.value);
  else if (typeof value === 'boolean') whole = value ? 1n : 0n;
  else if (typeof value === 'number' || value instanceof Decimal128) {
    const number = typeof value === 'number' ? value : decimalToNumber(value);
    if (!Number.isFinite(number)) throw failure(value, to, 'the value is not finite');
    whole = BigInt(Math.trunc(number));
  } else if (typeof value === 'string') {
    if (!/^[+-]?\d+$/.test(value)) throw failure(value, to, 'expected digits only');
    whole = BigInt(value.replace('+', ''));
  } else throw failure(value, to);
  if (whole < least || whole > most) throw failure(value, to, 'the value is out of range');
  return whole;
}

function toDouble(value: Maybe): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Int32) return value.value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof BsonDate) return value.ms;
  if (value instanceof Decimal128) return decimalToNumber(value);
  if (typeof value !== 'string') throw failure(value, 'double');
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(value);
  if (special !== null) {
    if (special[2]!.toLowerCase() === 'nan') return Number.NaN;
    return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value)) throw failure(value, 'double', 'expected a number');
  const number = Number(value);
  if (!Number.isFinite(number)) throw failure(value, 'double', 'the value is out of range');
  return number;
}

function toBool(value: Maybe): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (typeof value === 'bigint') return value !== 0n;
  if (value instanceof Int32) return value.value !== 0;
  return isTruthy(value);
}

function toDate(value: Maybe): BsonDate {
  if (value instanceof BsonDate) return value;
  if (value instanceof Timestamp) return new BsonDate(Number(value.value >> 32n) * 1000);
  if (value instanceof ObjectId) {
    return new BsonDate(new DataView(value.bytes.buffer, value.bytes.byteOffset, 12).getInt32(0) * 1000);
  }
  if (typeof value === 'string') {
    const ms = parseDate(value);
    if (ms === undefined) throw failure(value, 'date', 'expected ISO 8601, e.g. 2026-01-31T12:00:00Z');
    return new BsonDate(ms);
  }
  if (typeof value === 'bigint') return new BsonDate(Number(value));
  if (typeof value !== 'number' && !(value instanceof Decimal128)) throw failure(value, 'date');
  const ms = Math.trunc(typeof value === 'number' ? value : decimalToNumber(value));
  if (!(Math.abs(ms) < 2 ** 63)) throw failure(value, 'date', 'the value is out of range');
  return new BsonDate(ms);
}

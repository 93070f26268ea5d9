/** Converts values to int, long, double and decimal. */

import {
  compareParts,
  type DecimalParts,
  decimalDigits,
  decimalParts,
  decimalToNumber,
  digitsOf,
  encodeDecimal,
  leastExponent,
  parseDecimal,
  partsOfNumber,
  partsOfText,
} from '../../bson/decimal.ts';
import { decimalOfWhole, isZero } from '../../bson/decimal-arithmetic.ts';
import { isNumeric } from '../../bson/type.ts';
import { Binary, BsonDate, Decimal128, Int32, type Maybe } from '../../bson/value.ts';
import { toDecimal as decimalOf, maxLong, minLong } from '../numbers/number.ts';
import { binaryToDouble, binaryToWhole } from './convert-binary.ts';
import { failure } from './convert-failure.ts';

/** Options of $convert besides the type. */
export interface NumberOptions {
  readonly littleEndian: boolean;
  /** Base of the digits in texts, if given. */
  readonly base: Base | undefined;
}

export type Base = 2 | 8 | 10 | 16;

export function toInt(value: Maybe, options: NumberOptions): Int32 {
  if (value instanceof Int32) return value;
  return new Int32(Number(toWhole(value, 'int', -2147483648n, 2147483647n, 4, options)));
}

export function toLong(value: Maybe, options: NumberOptions): bigint {
  if (typeof value === 'bigint') return value;
  return value instanceof BsonDate ? value.int64 : toWhole(value, 'long', minLong, maxLong, 8, options);
}

/** Fractions are cut off. */
function toWhole(
  value: Maybe,
  to: string,
  least: bigint,
  most: bigint,
  mostBytes: number,
  { littleEndian, base }: NumberOptions,
): bigint {
  let whole: bigint | undefined;
  if (typeof value === 'bigint') whole = value;
  else if (value instanceof Int32) whole = BigInt(value.value);
  else if (typeof value === 'boolean') whole = value ? 1n : 0n;
  else if (typeof value === 'string') whole = wholeOfText(value, base ?? 10);
  else if (value instanceof Binary) whole = binaryToWhole(value, to, mostBytes, littleEndian);
  else if (typeof value === 'number') whole = Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined;
  else if (value instanceof Decimal128) whole = wholeOfDecimal(value);
  else throw failure(value, to);
  if (whole === undefined)
    throw failure(value, to, typeof value === 'string' ? 'expected digits only' : 'it is not finite');
  if (whole < least || whole > most) throw failure(value, to, 'the value is out of range');
  return whole;
}

const digits = {
  2: /^([+-]?)([01]+)$/,
  8: /^([+-]?)([0-7]+)$/,
  10: /^([+-]?)(\d+)$/,
  16: /^([+-]?)([\da-f]+)$/i,
} as const;
const prefixes = { 2: '0b', 8: '0o', 10: '', 16: '0x' } as const;

/** With a base, every number is first read as a whole number of 64 bits. */
function wholeWithBase(text: string, to: string, base: Base): bigint {
  const whole = wholeOfText(text, base);
  if (whole !== undefined && whole >= minLong && whole <= maxLong) return whole;
  throw failure(text, to, `expected a whole number of 64 bits in base ${base}`);
}

function wholeOfText(text: string, base: Base): bigint | undefined {
  const [, sign, size = ''] = digits[base].exec(text) ?? [];
  if (size === '') return undefined;
  // More digits cannot fit; leading zeros do not count.
  const short = size.replace(/^0+(?=.)/, '');
  const whole = short.length > 64 ? maxLong + 1n : BigInt(prefixes[base] + short);
  return sign === '-' ? -whole : whole;
}

/** Beyond 64 bits any value will do: it is out of range. */
function wholeOfDecimal(value: Decimal128): bigint | undefined {
  const { kind, negative, coefficient, exponent } = decimalParts(value);
  if (kind !== 'finite') return undefined;
  const size =
    exponent >= 0 ? coefficient * 10n ** BigInt(Math.min(exponent, 40)) : coefficient / 10n ** BigInt(-exponent);
  return negative ? -size : size;
}

export function toDouble(value: Maybe, { littleEndian, base }: NumberOptions): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Int32) return value.value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof BsonDate) return value.ms;
  if (value instanceof Binary) return binaryToDouble(value, littleEndian);
  if (value instanceof Decimal128) return doubleOfDecimal(value);
  if (typeof value !== 'string') throw failure(value, 'double');
  return base === undefined ? doubleOfText(value) : Number(wholeWithBase(value, 'double', base));
}

function doubleOfDecimal(value: Decimal128): number {
  const parts = decimalParts(value);
  const number = decimalToNumber(value);
  if (parts.kind !== 'finite') return number;
  if (!Number.isFinite(number)) throw failure(value, 'double', 'the value is out of range');
  // Subnormal doubles lose digits, which counts as an underflow.
  if (Math.abs(number) < 2 ** -1022 && !isZero(parts) && compareParts(parts, partsOfNumber(number)) !== 0) {
    throw failure(value, 'double', 'the value is too small');
  }
  return number;
}

function doubleOfText(text: string): number {
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special !== null) {
    if (special[2]!.toLowerCase() === 'nan') return Number.NaN;
    return special[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  const number = hexDouble(text) ?? (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined);
  if (number === undefined) throw failure(text, 'double', 'expected a number');
  if (!Number.isFinite(number)) throw failure(text, 'double', 'the value is out of range');
  return number;
}

/** `0x1.8p1` as in C, exact for digits that a double can hold. */
function hexDouble(text: string): number | undefined {
  const found = /^([+-]?)0x([\da-f]*)(?:\.([\da-f]*))?(?:p([+-]?\d{1,5}))?$/i.exec(text);
  if (found === null) return undefined;
  const [, sign, whole = '', fraction = '', power = '0'] = found;
  if (whole + fraction === '') return undefined;
  const size = Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(power) - 4 * fraction.length);
  return sign === '-' ? -size : size;
}

export function toDecimal(value: Maybe, { base }: NumberOptions): Decimal128 {
  if (isNumeric(value)) return decimalOf(value);
  if (typeof value === 'boolean') return decimalOfWhole(value ? 1 : 0);
  if (value instanceof BsonDate) return decimalOfWhole(value.int64);
  if (typeof value !== 'string') throw failure(value, 'decimal');
  if (base !== undefined) return decimalOfWhole(wholeWithBase(value, 'decimal', base));
  const decimal = parseDecimal(value);
  if (decimal === undefined) throw failure(value, 'decimal', 'expected a number');
  const written = partsOfText(value);
  return written === undefined ? decimal : truncated(written, value);
}

/** Unlike in arithmetic, digits beyond 34 are cut off; an exponent out of range is an error. */
function truncated(written: DecimalParts, text: string): Decimal128 {
  const surplus = Math.max(0, digitsOf(written.coefficient) - decimalDigits);
  const coefficient = written.coefficient / 10n ** BigInt(surplus);
  const exponent = written.exponent + surplus;
  const decimal = encodeDecimal({ ...written, coefficient, exponent });
  if (decimalParts(decimal).kind !== 'finite') throw failure(text, 'decimal', 'the value is out of range');
  const lost = leastExponent - exponent;
  if (lost > 0 && coefficient % 10n ** BigInt(Math.min(lost, decimalDigits)) !== 0n) {
    throw failure(text, 'decimal', 'the value is too small');
  }
  return decimal;
}

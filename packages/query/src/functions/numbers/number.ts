/** Numbers inside functions: their values, the widest of their types, and the conversion back to BSON. */
import { decimalParts, decimalToNumber } from '../../bson/decimal.ts';
import { decimalOfDouble, decimalOfWhole, toWholeDecimal } from '../../bson/decimal-arithmetic.ts';
import { describe } from '../../bson/describe.ts';
import { isNumeric, typeName } from '../../bson/type.ts';
import { type BsonValue, Decimal128, Int32, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';

export type Numeric = number | bigint | Int32 | Decimal128;
export type Whole = bigint | Int32;

export const maxLong: bigint = 2n ** 63n - 1n;
export const minLong: bigint = -(2n ** 63n);

export function isInt32(value: number): boolean {
  return value === (value | 0);
}

/** An int32 if it fits, otherwise an int64, otherwise undefined. */
export function wholeResult(value: bigint, long: boolean): BsonValue | undefined {
  if (!long && value >= -2147483648n && value <= 2147483647n) return new Int32(Number(value));
  return value >= minLong && value <= maxLong ? value : undefined;
}

/** A double, or a long as itself; a decimal as the nearest double. Refuses values that are not numbers. */
export function plainNumber(value: Maybe, name: string, code: number): number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof Int32) return value.value;
  if (value instanceof Decimal128) return decimalToNumber(value);
  throw new QueryError(code, `${name} takes numbers, found ${typeName(value)}`);
}

export function isDecimal(value: Maybe): value is Decimal128 {
  return value instanceof Decimal128;
}

/** The nearest double. */
export function toDouble(value: Numeric): number {
  if (typeof value === 'number') return value;
  if (value instanceof Int32) return value.value;
  return typeof value === 'bigint' ? Number(value) : decimalToNumber(value);
}

export function toBigInt(value: Whole): bigint {
  return typeof value === 'bigint' ? value : BigInt(value.value);
}

/** Keeps the first 15 digits of a double. */
export function toDecimal(value: Numeric): Decimal128 {
  if (value instanceof Decimal128) return value;
  if (typeof value === 'number') return decimalOfDouble(value);
  return decimalOfWhole(value instanceof Int32 ? value.value : value);
}

/** The number if it is whole; undefined for fractions and non-finite numbers. */
export function exactWhole(value: Numeric): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (value instanceof Int32) return BigInt(value.value);
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined;
  const { kind, negative, coefficient, exponent } = decimalParts(value);
  if (kind !== 'finite') return undefined;
  const unit = 10n ** BigInt(Math.abs(exponent));
  if (exponent < 0 && coefficient % unit !== 0n) return undefined;
  const size = exponent < 0 ? coefficient / unit : coefficient * unit;
  return negative ? -size : size;
}

/** Without its fraction; undefined if it does not fit into 64 bits. */
export function wholePart(value: Numeric): bigint | undefined {
  const cut = value instanceof Decimal128 ? toWholeDecimal(value, 'down') : value;
  const whole = exactWhole(typeof cut === 'number' ? Math.trunc(cut) : cut);
  return whole === undefined || whole < minLong || whole > maxLong ? undefined : whole;
}

export function isNan(value: Numeric): boolean {
  return value instanceof Decimal128 ? decimalParts(value).kind === 'nan' : Number.isNaN(value);
}

export function isFiniteNumber(value: Numeric): boolean {
  if (value instanceof Decimal128) return decimalParts(value).kind === 'finite';
  return typeof value !== 'number' || Number.isFinite(value);
}

/** -1, 0 or 1; NaN for NaN. */
export function signOf(value: Numeric): number {
  if (!(value instanceof Decimal128)) return Math.sign(toDouble(value));
  const { kind, negative, coefficient } = decimalParts(value);
  if (kind === 'nan') return Number.NaN;
  if (kind === 'finite' && coefficient === 0n) return 0;
  return negative ? -1 : 1;
}

/**
 * Numbers that are positions and counts: whole and of 32 bits, whatever their type. The number, or undefined if the value is not a number,
 * has a fraction, or does not fit into 32 bits.
 */
function wholeInt32(value: Maybe): number | undefined {
  if (value instanceof Int32) return value.value;
  if (!isNumeric(value)) return undefined;
  const number = Number(value instanceof Decimal128 ? (exactWhole(value) ?? Number.NaN) : value);
  return isInt32(number) ? number + 0 : undefined;
}

/** The number. @throws QueryError with the code for the problem: not a number, or not whole and of 32 bits. */
export function requireInt32(value: Maybe, what: string, notWhole: number, notNumber: number = notWhole): number {
  const number = wholeInt32(value);
  if (number !== undefined) return number;
  if (!isNumeric(value)) throw new QueryError(notNumber, `${what} must be a number, found ${typeName(value)}`);
  throw new QueryError(notWhole, `${what} must be a 32-bit whole number, found ${describe(value)}`);
}

/** The same for a position, which must not be negative. */
export function requirePlace(value: Maybe, what: string, notWhole: number, negative: number): number {
  const place = requireInt32(value, what, notWhole);
  if (place < 0) throw new QueryError(negative, `${what} must not be negative, found ${place}`);
  return place;
}

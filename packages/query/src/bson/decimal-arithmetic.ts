/** Arithmetic of Decimal128: exact, then rounded half to even to 34 digits, with IEEE 754-2008's exponents and signs. */

import {
  type DecimalParts,
  decimalDigits,
  decimalInfinity,
  decimalNan,
  decimalParts,
  digitsOf,
  dropDigits,
  encodeDecimal,
  leastExponent,
  partsOfNumber,
  partsOfUnits,
  unitsOf,
} from './decimal.ts';
import type { Decimal128 } from './value.ts';

export function finite(negative: boolean, coefficient: bigint, exponent: number): DecimalParts {
  return { kind: 'finite', negative, coefficient, exponent };
}

export function decimalOfWhole(value: bigint | number): Decimal128 {
  return encodeDecimal(partsOfUnits(BigInt(value), 0));
}

/** Keeps 15 digits of a double, including trailing zeros, as MongoDB does. */
export function decimalOfDouble(value: number): Decimal128 {
  if (Number.isNaN(value)) return decimalNan;
  if (!Number.isFinite(value)) return decimalInfinity(value < 0);
  if (value === 0) return encodeDecimal(finite(Object.is(value, -0), 0n, 0));
  return encodeDecimal(withDigits(partsOfNumber(value), 15));
}

/** The same value with this many digits, rounded or padded with zeros. */
export function withDigits(parts: DecimalParts, digits: number): DecimalParts {
  const surplus = digitsOf(parts.coefficient) - digits;
  if (surplus <= 0) {
    return finite(parts.negative, parts.coefficient * 10n ** BigInt(-surplus), parts.exponent + surplus);
  }
  const coefficient = dropDigits(parts.coefficient, surplus);
  // 999…9 rounds up to one more digit.
  if (digitsOf(coefficient) <= digits) return finite(parts.negative, coefficient, parts.exponent + surplus);
  return finite(parts.negative, coefficient / 10n, parts.exponent + surplus + 1);
}

export function isZero(parts: DecimalParts): boolean {
  return parts.kind === 'finite' && parts.coefficient === 0n;
}

export function negated(value: Decimal128): Decimal128 {
  const parts = decimalParts(value);
  return encodeDecimal({ ...parts, negative: !parts.negative });
}

export function add(left: Decimal128, right: Decimal128): Decimal128 {
  const [a, b] = [decimalParts(left), decimalParts(right)];
  if (a.kind === 'nan' || b.kind === 'nan') return decimalNan;
  if (a.kind === 'infinite' || b.kind === 'infinite') {
    if (a.kind === b.kind && a.negative !== b.negative) return decimalNan;
    return decimalInfinity(a.kind === 'infinite' ? a.negative : b.negative);
  }
  const [high, low] = a.exponent >= b.exponent ? [a, nearTo(b, a)] : [b, nearTo(a, b)];
  const sum = unitsOf(high, low.exponent) + unitsOf(low, low.exponent);
  const negative = sum === 0n ? a.negative && b.negative : sum < 0n;
  return encodeDecimal(finite(negative, sum < 0n ? -sum : sum, low.exponent));
}

/** Beyond this distance of exponents, only a number's sign, and whether it is zero, affect the sum. */
const farApart = 3 * decimalDigits;

/** Moved so close to a number of a higher exponent that their sum is short but rounds to the same result. */
function nearTo(low: DecimalParts, high: DecimalParts): DecimalParts {
  if (high.exponent - low.exponent <= farApart || high.coefficient === 0n) return low;
  return finite(low.negative, low.coefficient === 0n ? 0n : 1n, high.exponent - farApart);
}

export function subtract(left: Decimal128, right: Decimal128): Decimal128 {
  return add(left, negated(right));
}

export function multiply(left: Decimal128, right: Decimal128): Decimal128 {
  const [a, b] = [decimalParts(left), decimalParts(right)];
  const negative = a.negative !== b.negative;
  if (a.kind === 'nan' || b.kind === 'nan') return decimalNan;
  if (a.kind === 'infinite' || b.kind === 'infinite') {
    return isZero(a) || isZero(b) ? decimalNan : decimalInfinity(negative);
  }
  return encodeDecimal(finite(negative, a.coefficient * b.coefficient, a.exponent + b.exponent));
}

/** Division by zero gives an infinity, or NaN for zero by zero. */
export function divide(left: Decimal128, right: Decimal128): Decimal128 {
  const [a, b] = [decimalParts(left), decimalParts(right)];
  const negative = a.negative !== b.negative;
  if (a.kind === 'nan' || b.kind === 'nan') return decimalNan;
  if (a.kind === 'infinite') return b.kind === 'infinite' ? decimalNan : decimalInfinity(negative);
  if (b.kind === 'infinite') return encodeDecimal(finite(negative, 0n, leastExponent));
  if (b.coefficient === 0n) return a.coefficient === 0n ? decimalNan : decimalInfinity(negative);
  const ideal = a.exponent - b.exponent;
  if (a.coefficient === 0n) return encodeDecimal(finite(negative, 0n, ideal));
  const shift = Math.max(0, decimalDigits + 2 + digitsOf(b.coefficient) - digitsOf(a.coefficient));
  const scaled = a.coefficient * 10n ** BigInt(shift);
  const quotient = scaled / b.coefficient;
  if (scaled % b.coefficient !== 0n) return encodeDecimal(finite(negative, quotient, ideal - shift), true);
  return encodeDecimal(shortened(finite(negative, quotient, ideal - shift), ideal));
}

/** Removes trailing zeros while the exponent is below `ideal`. */
export function shortened(parts: DecimalParts, ideal: number): DecimalParts {
  let { coefficient, exponent } = parts;
  while (exponent < ideal && coefficient % 10n === 0n) {
    coefficient /= 10n;
    exponent++;
  }
  return finite(parts.negative, coefficient, exponent);
}

/** With the sign of the dividend, like C's fmod. */
export function remainder(left: Decimal128, right: Decimal128): Decimal128 {
  const [a, b] = [decimalParts(left), decimalParts(right)];
  if (a.kind === 'nan' || b.kind === 'nan' || a.kind === 'infinite' || isZero(b)) return decimalNan;
  if (b.kind === 'infinite') return left;
  const exponent = Math.min(a.exponent, b.exponent);
  const divisor = b.coefficient * 10n ** BigInt(b.exponent - exponent);
  // The power is reduced along the way, because it may have thousands of digits.
  const rest = ((a.coefficient % divisor) * powerModulo(a.exponent - exponent, divisor)) % divisor;
  return encodeDecimal(finite(a.negative, rest, exponent));
}

function powerModulo(power: number, modulus: bigint): bigint {
  let result = 1n % modulus;
  let square = 10n % modulus;
  for (let rest = power; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}

export type Rounding = 'halfEven' | 'down' | 'floor' | 'ceil';

/** With this exponent. Gives NaN if that needs more than 34 digits. */
export function quantized(value: Decimal128, exponent: number, rounding: Rounding): Decimal128 {
  const parts = decimalParts(value);
  if (parts.kind !== 'finite') return value;
  if (parts.exponent >= exponent) {
    const pad = parts.exponent - exponent;
    if (parts.coefficient !== 0n && digitsOf(parts.coefficient) + pad > decimalDigits) return decimalNan;
    const coefficient = parts.coefficient === 0n ? 0n : parts.coefficient * 10n ** BigInt(pad);
    return encodeDecimal(finite(parts.negative, coefficient, exponent));
  }
  const drop = Math.min(exponent - parts.exponent, decimalDigits + 2);
  return encodeDecimal(finite(parts.negative, roundedOff(parts, drop, rounding), exponent));
}

function roundedOff(parts: DecimalParts, drop: number, rounding: Rounding): bigint {
  if (rounding === 'halfEven') return dropDigits(parts.coefficient, drop);
  const unit = 10n ** BigInt(drop);
  const kept = parts.coefficient / unit;
  const away = rounding === (parts.negative ? 'floor' : 'ceil') && parts.coefficient % unit !== 0n;
  return away ? kept + 1n : kept;
}

/** Rounds to a whole number; one with an exponent of zero or more stays as it is. */
export function toWholeDecimal(value: Decimal128, rounding: Rounding): Decimal128 {
  const parts = decimalParts(value);
  return parts.kind === 'finite' && parts.exponent < 0 ? quantized(value, 0, rounding) : value;
}

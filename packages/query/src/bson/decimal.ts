/**
 * The parts, order and text of Decimal128, and the value of parts or a text: rounded half to even to 34 digits, as IEEE 754-2008 and
 * MongoDB do. decimal-arithmetic.ts has the arithmetic.
 */
import { Decimal128 } from './value.ts';

/** Digits of a Decimal128's coefficient. */
export const decimalDigits = 34;
export const leastExponent = -6176;
export const mostExponent = 6111;

const limit = 10n ** 34n;

export const decimalNan: Decimal128 = special(false, 0x1fn);

export function decimalInfinity(negative: boolean): Decimal128 {
  return special(negative, 0x1en);
}

function special(negative: boolean, top: bigint): Decimal128 {
  return packed((negative ? 1n << 63n : 0n) | (top << 58n), 0n);
}

function packed(high: bigint, low: bigint): Decimal128 {
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, low, true);
  view.setBigUint64(8, high, true);
  return new Decimal128(bytes);
}

export function digitsOf(coefficient: bigint): number {
  return coefficient === 0n ? 1 : coefficient.toString().length;
}

/** `coefficient / 10^digits`, half to even. @param inexact the exact value is above the coefficient by less than one unit. */
export function dropDigits(coefficient: bigint, digits: number, inexact = false): bigint {
  if (digits <= 0) return coefficient;
  const unit = 10n ** BigInt(digits);
  const kept = coefficient / unit;
  const twice = (coefficient % unit) * 2n;
  const up = twice > unit || (twice === unit && (inexact || kept % 2n === 1n));
  return up ? kept + 1n : kept;
}

/** The nearest Decimal128; keeps the exponent if the format allows it. Values that are too large become infinite. */
export function encodeDecimal(parts: DecimalParts, inexact = false): Decimal128 {
  if (parts.kind === 'nan') return decimalNan;
  if (parts.kind === 'infinite') return decimalInfinity(parts.negative);
  let { coefficient, exponent } = parts;
  if (coefficient !== 0n) {
    const drop = Math.max(digitsOf(coefficient) - decimalDigits, leastExponent - exponent, 0);
    coefficient = dropDigits(coefficient, drop, inexact);
    exponent += drop;
    if (coefficient === limit) {
      coefficient /= 10n;
      exponent++;
    }
  }
  if (coefficient === 0n) exponent = Math.min(Math.max(exponent, leastExponent), mostExponent);
  if (exponent > mostExponent) {
    const pad = exponent - mostExponent;
    if (digitsOf(coefficient) + pad > decimalDigits) return decimalInfinity(parts.negative);
    coefficient *= 10n ** BigInt(pad);
    exponent = mostExponent;
  }
  const sign = parts.negative ? 1n << 63n : 0n;
  return packed(sign | (BigInt(exponent + 6176) << 49n) | (coefficient >> 64n), coefficient & 0xffffffffffffffffn);
}

const maxExponentDigits = 7;
/** Digits beyond this number are not kept; it only matters whether there are any. */
const maxDigits = 200;

/**
 * Decimal128 from text: digits with or without a point and an exponent, `Infinity`, `inf` or `NaN` in any case. Undefined for a text that
 * is not a number. Values that are too large become infinite, too small ones zero; digits beyond 34 are rounded.
 */
export function parseDecimal(text: string): Decimal128 | undefined {
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special !== null) return special[2]!.toLowerCase() === 'nan' ? decimalNan : decimalInfinity(special[1] === '-');
  const parts = partsOfText(text);
  return parts === undefined ? undefined : encodeDecimal(parts);
}

export function partsOfText(text: string): DecimalParts | undefined {
  const found = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:e([+-]?\d+))?$/i.exec(text);
  if (found === null) return undefined;
  const [, sign, whole = '', after, only, power = '0'] = found;
  const fraction = after ?? only ?? '';
  const capped = power.replace(/^([+-]?)0+(?=\d)/, '$1').slice(0, maxExponentDigits + 1);
  const digits = (whole + fraction).replace(/^0+(?=\d)/, '');
  const surplus = Math.max(0, digits.length - maxDigits);
  const sticky = surplus > 0 && /[1-9]/.test(digits.slice(maxDigits)) ? '1' : '0';
  return {
    kind: 'finite',
    negative: sign === '-',
    coefficient: BigInt(surplus > 0 ? digits.slice(0, maxDigits) + sticky : digits),
    exponent: Number(capped) - fraction.length + Math.max(0, surplus - 1),
  };
}

/** `coefficient × 10^exponent`, or one of the special values. */
export interface DecimalParts {
  readonly kind: 'finite' | 'infinite' | 'nan';
  readonly negative: boolean;
  readonly coefficient: bigint;
  readonly exponent: number;
}

export function decimalParts(value: Decimal128): DecimalParts {
  const view = new DataView(value.bytes.buffer, value.bytes.byteOffset, 16);
  const low = view.getBigUint64(0, true);
  const high = view.getBigUint64(8, true);
  const negative = high >> 63n === 1n;
  const top = Number((high >> 58n) & 0x1fn);
  if (top === 0x1f) return { kind: 'nan', negative, coefficient: 0n, exponent: 0 };
  if (top === 0x1e) return { kind: 'infinite', negative, coefficient: 0n, exponent: 0 };
  // Combination bits 11 mean a coefficient beyond the format's 34 digits, which reads as zero.
  const large = top >> 3 === 3;
  const exponent = Number((high >> (large ? 47n : 49n)) & 0x3fffn) - 6176;
  const coefficient = large ? 0n : ((high & 0x1ffffffffffffn) << 64n) | low;
  return { kind: 'finite', negative, coefficient, exponent };
}

/** The nearest double. */
export function decimalToNumber(value: Decimal128): number {
  return Number(decimalText(value));
}

/** The text that MongoDB shows: plain digits if short, otherwise scientific; `Infinity`, `NaN`. */
export function decimalText(value: Decimal128): string {
  const parts = decimalParts(value);
  if (parts.kind === 'nan') return 'NaN';
  const sign = parts.negative ? '-' : '';
  if (parts.kind === 'infinite') return `${sign}Infinity`;
  const digits = parts.coefficient.toString();
  const scientific = parts.exponent + digits.length - 1;
  if (parts.exponent > 0 || scientific < -6) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    return `${sign}${digits[0]}${fraction}E${scientific < 0 ? '' : '+'}${scientific}`;
  }
  if (parts.exponent === 0) return sign + digits;
  const padded = digits.padStart(1 - parts.exponent, '0');
  return `${sign}${padded.slice(0, parts.exponent)}.${padded.slice(parts.exponent)}`;
}

/** An exact order of two finite numbers of any type, given as parts. */
export function compareParts(left: DecimalParts, right: DecimalParts): number {
  const exponent = Math.min(left.exponent, right.exponent);
  const a = unitsOf(left, exponent);
  const b = unitsOf(right, exponent);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A finite number in units of 10^exponent, which must not be above its own exponent. */
export function unitsOf(parts: DecimalParts, exponent: number): bigint {
  if (parts.coefficient === 0n) return 0n;
  const magnitude = parts.coefficient * 10n ** BigInt(parts.exponent - exponent);
  return parts.negative ? -magnitude : magnitude;
}

/** The number that equals this many units of 10^exponent. */
export function partsOfUnits(units: bigint, exponent: number): DecimalParts {
  return { kind: 'finite', negative: units < 0n, coefficient: units < 0n ? -units : units, exponent };
}

/** A finite double or integer as exact decimal parts. */
export function partsOfNumber(value: number | bigint): DecimalParts {
  if (typeof value === 'bigint' || Number.isInteger(value)) return partsOfUnits(BigInt(value), 0);
  // A double is m × 2^-k; times 5^k it is a whole number of 10^-k.
  let shift = 0;
  let scaledUp = Math.abs(value);
  while (!Number.isInteger(scaledUp)) {
    scaledUp *= 2;
    shift++;
  }
  return { kind: 'finite', negative: value < 0, coefficient: BigInt(scaledUp) * 5n ** BigInt(shift), exponent: -shift };
}

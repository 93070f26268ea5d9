/** The parts, order and text of Decimal128; decimal-arithmetic.ts has the arithmetic. */

import type { Decimal128 } from './value.ts';

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

/** Decimal128 from its parts, or from text: rounded half to even to 34 digits, as IEEE 754-2008 and MongoDB do. */
import type { DecimalParts } from './decimal.ts';
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

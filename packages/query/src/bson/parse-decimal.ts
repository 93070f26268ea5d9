/** Decimal128 from text: digits with or without a point and an exponent, `Infinity`, `inf` or `NaN` in any case. */

import type { DecimalParts } from './decimal.ts';
import { decimalInfinity, decimalNan, encodeDecimal } from './encode-decimal.ts';
import type { Decimal128 } from './value.ts';

const maxExponentDigits = 7;
/** Digits beyond this number are not kept; it only matters whether there are any. */
const maxDigits = 200;

/**
 * Undefined for a text that is not a number. Values that are too large become infinite, too small ones zero; digits beyond 34 are rounded.
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

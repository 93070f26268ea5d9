/** Numbers that stand for places and counts: whole and of 32 bits, whatever their type. */

import { decimalParts } from '../../bson/decimal.ts';
import { isNumeric } from '../../bson/type.ts';
import { Decimal128, Int32, type Maybe } from '../../bson/value.ts';

/** The number, or undefined if the value is none, has a fraction, or does not fit 32 bits. */
export function wholeInt32(value: Maybe): number | undefined {
  if (value instanceof Int32) return value.value;
  if (!isNumeric(value)) return undefined;
  const number = value instanceof Decimal128 ? wholeDecimal(value) : Number(value);
  return number === (number | 0) ? number + 0 : undefined;
}

/** NaN if it is not whole, or far from 32 bits. */
function wholeDecimal(value: Decimal128): number {
  const { kind, negative, coefficient, exponent } = decimalParts(value);
  if (kind !== 'finite') return Number.NaN;
  if (coefficient === 0n) return 0;
  if (exponent > 10) return Number.NaN;
  const scale = 10n ** BigInt(Math.abs(exponent));
  if (exponent < 0 && coefficient % scale !== 0n) return Number.NaN;
  const magnitude = exponent < 0 ? coefficient / scale : coefficient * scale;
  return Number(negative ? -magnitude : magnitude);
}

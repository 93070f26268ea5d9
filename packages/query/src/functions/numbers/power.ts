/** $pow: exact for integers as long as they fit, otherwise a double; with a Decimal128, a decimal. */

import { decimalPow } from '../../bson/decimal-functions.ts';
import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import type { Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { isDecimal, signOf, toBigInt, toDecimal, toDouble, wholeResult } from './number.ts';

export function power(base: Maybe, exponent: Maybe): Maybe {
  if (isNullish(base) || isNullish(exponent)) return null;
  if (!isNumeric(base)) throw new QueryError(28762, `$pow's base must be numeric, not ${typeName(base)}`);
  if (!isNumeric(exponent)) throw new QueryError(28763, `$pow's exponent must be numeric, not ${typeName(exponent)}`);
  if (signOf(base) === 0 && signOf(exponent) < 0) {
    throw new QueryError(28764, '$pow cannot take a base of 0 and a negative exponent');
  }
  if (isDecimal(base) || isDecimal(exponent)) return decimalPow(toDecimal(base), toDecimal(exponent));
  const double = doublePower(toDouble(base), toDouble(exponent));
  if (typeof base === 'number' || typeof exponent === 'number') return double;
  const long = typeof base === 'bigint' || typeof exponent === 'bigint';
  const [a, b] = [toBigInt(base), toBigInt(exponent)];
  const odd = b % 2n !== 0n;
  if (b === 0n || a === 1n) return wholeResult(1n, long);
  if (a === 0n) return wholeResult(0n, long);
  if (a === -1n) return wholeResult(odd ? -1n : 1n, long);
  if (b < 0n || Math.abs(double) > 2 ** 64) return double;
  return wholeResult(a ** b, long) ?? double;
}

/** C's pow gives 1 for a base of 1 and for ±1 raised to infinity, where JavaScript gives NaN. */
function doublePower(base: number, exponent: number): number {
  if (base === 1) return 1;
  if (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY) return 1;
  return base ** exponent;
}

/** What counts as true in expressions: everything except false, null, missing, the deprecated undefined, and zero. */

import { decimalParts } from '../../bson/decimal.ts';
import { isZero } from '../../bson/decimal-arithmetic.ts';
import { isNullish } from '../../bson/type.ts';
import { Decimal128, Int32, type Maybe } from '../../bson/value.ts';

export function isTruthy(value: Maybe): boolean {
  if (typeof value === 'boolean') return value;
  if (isNullish(value)) return false;
  if (typeof value === 'number') return value !== 0;
  if (typeof value === 'bigint') return value !== 0n;
  if (value instanceof Int32) return value.value !== 0;
  return value instanceof Decimal128 ? !isZero(decimalParts(value)) : true;
}

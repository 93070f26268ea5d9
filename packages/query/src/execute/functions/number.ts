/** Numbers inside of functions: their values, the widest of their types, and the way back to BSON. */

import { typeName } from '../../bson/type.ts';
import { type BsonValue, Decimal128, Int32, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';

export const maxLong: bigint = 2n ** 63n - 1n;
export const minLong: bigint = -(2n ** 63n);

export function isInt32(value: number): boolean {
  return value === (value | 0);
}

/** An int32 if it fits, else an int64, else undefined. */
export function wholeResult(value: bigint, long: boolean): BsonValue | undefined {
  if (!long && value >= -2147483648n && value <= 2147483647n) return new Int32(Number(value));
  return value >= minLong && value <= maxLong ? value : undefined;
}

/** A double, or a long as itself; refuses what is not a number. */
export function plainNumber(value: Maybe, name: string, code: number): number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof Int32) return value.value;
  if (value instanceof Decimal128) throw decimalLater(name);
  throw new QueryError(code, `${name} takes numbers, found ${typeName(value)}`);
}

export function decimalLater(name: string): QueryError {
  return new QueryError('NotImplemented', `${name} of Decimal128 arrives in a later version`, {
    hint: 'use $toDouble first',
  });
}

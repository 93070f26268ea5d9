/** Converts numbers and other values to instants. */

import { decimalParts, dropDigits } from '../../bson/decimal.ts';
import { typeName } from '../../bson/type.ts';
import { BsonDate, Int32, type Maybe, ObjectId, Timestamp } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { isDecimal, type Numeric } from '../numbers/number.ts';

/** A whole number; undefined for an infinity or NaN, and for numbers far beyond 64 bits. */
export function roundHalfAway(value: Numeric): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (value instanceof Int32) return BigInt(value.value);
  if (isDecimal(value)) {
    const parts = decimalParts(value);
    if (parts.kind !== 'finite' || parts.exponent > 30) return undefined;
    if (parts.exponent >= 0) return signed(parts.coefficient * 10n ** BigInt(parts.exponent), parts.negative);
    // Decimals are rounded half to even, unlike doubles.
    return signed(dropDigits(parts.coefficient, Math.min(-parts.exponent, 40)), parts.negative);
  }
  if (!Number.isFinite(value)) return undefined;
  return BigInt(value < 0 ? -Math.round(-value) : Math.round(value));
}

function signed(size: bigint, negative: boolean): bigint {
  return negative ? -size : size;
}

/** The time of a date, timestamp or object id. @throws QueryError with `code` for anything else. */
export function millisecondsOf(value: Maybe, code: number): number {
  if (value instanceof BsonDate) return value.ms;
  if (value instanceof Timestamp) return secondsOf(value) * 1000;
  if (value instanceof ObjectId) return secondsOfId(value) * 1000;
  throw new QueryError(code, `can't convert from ${typeName(value)} to a date`);
}

export function secondsOf(value: Timestamp): number {
  return Number(BigInt.asUintN(32, value.value >> 32n));
}

function secondsOfId(value: ObjectId): number {
  return new DataView(value.bytes.buffer, value.bytes.byteOffset, 12).getInt32(0);
}

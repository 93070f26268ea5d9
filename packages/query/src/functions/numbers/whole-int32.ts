/** Numbers that are positions and counts: whole and of 32 bits, whatever their type. */

import { describe } from '../../bson/describe.ts';
import { isNumeric, typeName } from '../../bson/type.ts';
import { Decimal128, Int32, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { exactWhole, isInt32 } from './number.ts';

/** The number, or undefined if the value is not a number, has a fraction, or does not fit into 32 bits. */
export function wholeInt32(value: Maybe): number | undefined {
  if (value instanceof Int32) return value.value;
  if (!isNumeric(value)) return undefined;
  const number = Number(value instanceof Decimal128 ? (exactWhole(value) ?? Number.NaN) : value);
  return isInt32(number) ? number + 0 : undefined;
}

/** The number. @throws QueryError with the code for the problem: not a number, or not whole and of 32 bits. */
export function requireInt32(value: Maybe, what: string, notWhole: number, notNumber: number = notWhole): number {
  const number = wholeInt32(value);
  if (number !== undefined) return number;
  if (!isNumeric(value)) throw new QueryError(notNumber, `${what} must be a number, found ${typeName(value)}`);
  throw new QueryError(notWhole, `${what} must be a 32-bit whole number, found ${describe(value)}`);
}

/** The same for a position, which must not be negative. */
export function requirePlace(value: Maybe, what: string, notWhole: number, negative: number): number {
  const place = requireInt32(value, what, notWhole);
  if (place < 0) throw new QueryError(negative, `${what} must not be negative, found ${place}`);
  return place;
}

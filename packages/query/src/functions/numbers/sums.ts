/** $add and $subtract: numbers of all types, and dates. */

import * as decimal from '../../bson/decimal-arithmetic.ts';
import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import { BsonDate, Int32, type Maybe } from '../../bson/value.ts';
import { ExactSum } from '../../execute/sums/exact-sum.ts';
import { QueryError } from '../../query-error.ts';
import { roundHalfAway } from '../dates/date-value.ts';
import {
  isDecimal,
  isInt32,
  maxLong,
  minLong,
  type Numeric,
  toBigInt,
  toDecimal,
  toDouble,
  wholeResult,
} from './number.ts';

/** Summed exactly and rounded once, like $sum: a double added to a decimal counts with all its digits, not only 15 as elsewhere. */
export function add(...values: Maybe[]): Maybe {
  const [left, right] = values;
  if (values.length === 2) {
    if (typeof left === 'number' && typeof right === 'number') return 0 + left + right;
    if (left instanceof Int32 && right instanceof Int32 && isInt32(left.value + right.value))
      return new Int32(left.value + right.value);
  }
  const sum = new ExactSum();
  let isDate = false;
  for (const value of values) {
    if (isNullish(value)) return null;
    if (value instanceof BsonDate) {
      if (isDate) throw new QueryError(16612, 'only one date allowed in an $add expression');
      isDate = true;
      sum.add(value.int64);
    } else if (isNumeric(value)) sum.add(value);
    else throw new QueryError('TypeMismatch', `$add only supports numeric or date types, not ${typeName(value)}`);
  }
  const total = sum.total();
  return isDate && isNumeric(total) ? dateOf(total, '$add') : total;
}

export function subtract(left: Maybe, right: Maybe): Maybe {
  if (isNullish(left) || isNullish(right)) return null;
  if (isNumeric(left) && isNumeric(right)) return minus(left, right);
  if (left instanceof BsonDate) {
    if (right instanceof BsonDate) return left.int64 - right.int64;
    if (isNumeric(right)) return dateOf(minus(left.int64, wholeOf(right, '$subtract')), '$subtract');
  }
  throw new QueryError('TypeMismatch', `can't $subtract ${typeName(right)} from ${typeName(left)}`);
}

/** Integers that exceed 64 bits become doubles. */
function minus(left: Numeric, right: Numeric): Numeric {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (isDecimal(left) || isDecimal(right)) return decimal.subtract(toDecimal(left), toDecimal(right));
  if (typeof left === 'number' || typeof right === 'number') return toDouble(left) - toDouble(right);
  if (left instanceof Int32 && right instanceof Int32) {
    const small = left.value - right.value;
    if (isInt32(small)) return new Int32(small);
  }
  const long = typeof left === 'bigint' || typeof right === 'bigint';
  const difference = wholeResult(toBigInt(left) - toBigInt(right), long) as Numeric | undefined;
  return difference ?? toDouble(left) - toDouble(right);
}

/** Milliseconds, rounded half away from zero. */
function wholeOf(value: Numeric, name: string): bigint {
  const whole = roundHalfAway(value);
  if (whole === undefined || whole < minLong || whole > maxLong)
    throw new QueryError('Overflow', `date overflow in ${name}`);
  return whole;
}

function dateOf(sum: Numeric, name: string): BsonDate {
  // Sums of integers beyond 64 bits have become doubles.
  return new BsonDate(Number(wholeOf(sum, name)));
}

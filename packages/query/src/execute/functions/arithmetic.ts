/** $add, $subtract, $multiply, $divide, $mod, $pow. The result has the widest type of the operands; int32 grows to int64. */

import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import { BsonDate, type BsonValue, Decimal128, Int32, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { decimalLater, isInt32, plainNumber, wholeResult } from './number.ts';
import type { Eager } from './registry.ts';

export const arithmetic: Readonly<Record<string, Eager>> = {
  'agg.add': add,
  'agg.subtract': subtract,
  'agg.multiply': (...values) => {
    let product: BsonValue = new Int32(1);
    for (const value of values) {
      if (isNullish(value)) return null;
      product = binary(
        product,
        numeric(value, '$multiply'),
        (a, b) => a * b,
        (a, b) => a * b,
      );
    }
    return product;
  },
  'agg.divide': divide,
  'agg.mod': modulo,
  'agg.pow': power,
};

type Numeric = number | bigint | Int32;

function numeric(value: Maybe, name: string): Numeric {
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof Int32) return value;
  if (value instanceof Decimal128) throw decimalLater(name);
  throw new QueryError('TypeMismatch', `${name} only supports numeric types, not ${typeName(value)}`);
}

/** Doubles as doubles; integers exactly, as double only when they leave 64 bits. */
function binary(
  left: BsonValue,
  right: Numeric,
  double: (a: number, b: number) => number,
  whole: (a: bigint, b: bigint) => bigint,
): BsonValue {
  if (typeof left === 'number' && typeof right === 'number') return double(left, right);
  const a = left instanceof Int32 ? left.value : (left as number | bigint);
  const b = right instanceof Int32 ? right.value : right;
  if (typeof left === 'number' || typeof right === 'number') return double(Number(a), Number(b));
  if (left instanceof Int32 && right instanceof Int32) {
    const result = double(left.value, right.value);
    if (isInt32(result)) return new Int32(result);
  }
  const long = typeof left === 'bigint' || typeof right === 'bigint';
  return wholeResult(whole(BigInt(a), BigInt(b)), long) ?? double(Number(a), Number(b));
}

function add(...values: Maybe[]): Maybe {
  let sum: BsonValue = new Int32(0);
  let date: BsonDate | undefined;
  let nothing = false;
  for (const value of values) {
    if (isNullish(value)) nothing = true;
    else if (value instanceof BsonDate) {
      if (date !== undefined) throw new QueryError(16612, 'only one date allowed in an $add expression');
      date = value;
    } else if (isNumeric(value))
      sum = binary(
        sum,
        numeric(value, '$add'),
        (a, b) => a + b,
        (a, b) => a + b,
      );
    else throw new QueryError('TypeMismatch', `$add only supports numeric or date types, not ${typeName(value)}`);
  }
  if (nothing) return null;
  return date === undefined ? sum : shifted(date, sum, 1);
}

function shifted(date: BsonDate, by: BsonValue, sign: number): BsonDate {
  const amount = plainNumber(by, 'a date', 16556);
  const ms = date.ms + sign * (typeof amount === 'bigint' ? Number(amount) : Math.round(amount));
  if (!(Math.abs(ms) <= 2 ** 63)) throw new QueryError('Overflow', 'date overflow');
  return new BsonDate(ms);
}

function subtract(left: Maybe, right: Maybe): Maybe {
  if (isNullish(left) || isNullish(right)) return null;
  if (left instanceof BsonDate) {
    if (right instanceof BsonDate) return BigInt(left.ms - right.ms);
    if (isNumeric(right)) return shifted(left, right, -1);
  }
  if (!isNumeric(left) || !isNumeric(right)) {
    throw new QueryError('TypeMismatch', `can't $subtract ${typeName(right)} from ${typeName(left)}`);
  }
  return binary(
    numeric(left, '$subtract'),
    numeric(right, '$subtract'),
    (a, b) => a - b,
    (a, b) => a - b,
  );
}

function divide(left: Maybe, right: Maybe): Maybe {
  if (isNullish(left) || isNullish(right)) return null;
  if (!isNumeric(left) || !isNumeric(right)) {
    throw new QueryError(
      'TypeMismatch',
      `$divide only supports numeric types, not ${typeName(left)} and ${typeName(right)}`,
    );
  }
  const divisor = Number(plainNumber(right, '$divide', 14));
  if (divisor === 0) throw new QueryError('BadValue', "can't $divide by zero");
  return Number(plainNumber(left, '$divide', 14)) / divisor;
}

function modulo(left: Maybe, right: Maybe): Maybe {
  if (isNullish(left) || isNullish(right)) return null;
  if (!isNumeric(left) || !isNumeric(right)) {
    throw new QueryError(16611, `$mod only supports numeric types, not ${typeName(left)} and ${typeName(right)}`);
  }
  const divisor = plainNumber(right, '$mod', 16611);
  if (Number(divisor) === 0) throw new QueryError(16610, "can't $mod by zero");
  if (typeof left === 'number' || typeof right === 'number')
    return Number(plainNumber(left, '$mod', 16611)) % Number(divisor);
  const remainder = BigInt(plainNumber(left, '$mod', 16611)) % BigInt(divisor);
  return wholeResult(remainder, typeof left === 'bigint' || typeof right === 'bigint');
}

function power(base: Maybe, exponent: Maybe): Maybe {
  if (isNullish(base) || isNullish(exponent)) return null;
  if (!isNumeric(base)) throw new QueryError(28762, `$pow's base must be numeric, not ${typeName(base)}`);
  if (!isNumeric(exponent)) throw new QueryError(28763, `$pow's exponent must be numeric, not ${typeName(exponent)}`);
  const a = plainNumber(base, '$pow', 28762);
  const b = plainNumber(exponent, '$pow', 28763);
  if (Number(a) === 0 && Number(b) < 0)
    throw new QueryError(28764, '$pow cannot take a base of 0 and a negative exponent');
  const double = Number(a) ** Number(b);
  if (typeof base === 'number' || typeof exponent === 'number') return nanPower(Number(a), Number(b), double);
  const long = typeof base === 'bigint' || typeof exponent === 'bigint';
  const size = Math.abs(Number(a));
  if (Number(b) < 0 && size > 1) return double;
  const odd = Number(b) < 0 ? BigInt(b) % 2n : BigInt(b);
  if (size <= 1)
    return wholeResult(BigInt(a) ** (odd < 0n ? -odd : odd % 2n === 0n && odd > 0n ? 2n : odd > 0n ? 1n : 0n), long);
  return double < 2 ** 65 && double > -(2 ** 65) ? (wholeResult(BigInt(a) ** BigInt(b), long) ?? double) : double;
}

/** C's pow gives 1 for a base of 1 and for ±1 raised to infinity, where JavaScript gives NaN. */
function nanPower(base: number, exponent: number, result: number): number {
  if (base === 1) return 1;
  return base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY ? 1 : result;
}

/** $add, $subtract, $multiply, $divide, $mod, $pow. The result has the widest type of the operands; int32 grows to int64. */
import * as decimal from '../../bson/decimal-arithmetic.ts';
import { decimalPow } from '../../bson/decimal-functions.ts';
import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import { type BsonValue, Int32, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { named, numeric, ofWidestType } from '../../sql/types/signature.ts';
import { atLeast, eager, type Functions } from '../definition.ts';
import { isDecimal, isInt32, type Numeric, signOf, toBigInt, toDecimal, toDouble, wholeResult } from './number.ts';
import { add, subtract } from './sums.ts';

export const arithmetic: Functions = {
  'agg.add': eager({ mql: atLeast(0), sql: ofWidestType, size: 'bounded', folding: 'early' }, add),
  'agg.subtract': eager({ mql: 2, sql: ofWidestType, size: 'bounded', folding: 'early' }, subtract),
  'agg.multiply': eager({ mql: atLeast(0), sql: ofWidestType, size: 'bounded', folding: 'early' }, multiply),
  'agg.divide': eager({ mql: 2, size: 'bounded', folding: 'early' }, divide),
  'agg.mod': eager({ mql: 2, size: 'bounded' }, modulo),
  'agg.pow': eager({ mql: 2, sql: named(numeric, ['POW', 2, 2], ['POWER', 2, 2]) }, power),
};

/** Integers are multiplied exactly; if the product exceeds 64 bits, the product of the doubles counts. */
export function multiply(...values: Maybe[]): Maybe {
  let exact: BsonValue = new Int32(1);
  let double = 1;
  for (const value of values) {
    if (isNullish(value)) return null;
    if (!isNumeric(value)) {
      throw new QueryError('TypeMismatch', `$multiply only supports numeric types, not ${typeName(value)}`);
    }
    const before = double;
    double *= toDouble(value);
    exact = product(exact as Numeric, value, before, double);
  }
  return exact;
}

function product(left: Numeric, right: Numeric, before: number, double: number): Numeric {
  if (isDecimal(left) || isDecimal(right)) {
    const partial = typeof left === 'number' ? before : left;
    return decimal.multiply(toDecimal(partial), toDecimal(right));
  }
  if (typeof left === 'number' || typeof right === 'number') return double;
  if (left instanceof Int32 && right instanceof Int32) {
    const small = left.value * right.value;
    if (isInt32(small)) return new Int32(small);
  }
  const long = typeof left === 'bigint' || typeof right === 'bigint';
  return (wholeResult(toBigInt(left) * toBigInt(right), long) as Numeric | undefined) ?? double;
}

export function divide(left: Maybe, right: Maybe): Maybe {
  if (isNumeric(left) && isNumeric(right)) {
    if (signOf(right) === 0) throw new QueryError('BadValue', "can't $divide by zero");
    if (isDecimal(left) || isDecimal(right)) return decimal.divide(toDecimal(left), toDecimal(right));
    return toDouble(left) / toDouble(right);
  }
  if (isNullish(left) || isNullish(right)) return null;
  throw new QueryError(
    'TypeMismatch',
    `$divide only supports numeric types, not ${typeName(left)} and ${typeName(right)}`,
  );
}

export function modulo(left: Maybe, right: Maybe): Maybe {
  if (isNumeric(left) && isNumeric(right)) {
    if (signOf(right) === 0) throw new QueryError(16610, "can't $mod by zero");
    if (isDecimal(left) || isDecimal(right)) return decimal.remainder(toDecimal(left), toDecimal(right));
    if (typeof left === 'number' || typeof right === 'number') return toDouble(left) % toDouble(right);
    const long = typeof left === 'bigint' || typeof right === 'bigint';
    return wholeResult(toBigInt(left) % toBigInt(right), long);
  }
  if (isNullish(left) || isNullish(right)) return null;
  throw new QueryError(16611, `$mod only supports numeric types, not ${typeName(left)} and ${typeName(right)}`);
}

/** $pow: exact for integers as long as they fit, otherwise a double; with a Decimal128, a decimal. */
function power(base: Maybe, exponent: Maybe): Maybe {
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

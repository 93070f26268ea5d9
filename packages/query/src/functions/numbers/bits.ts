/** $bitAnd, $bitOr, $bitXor and $bitNot of int32 and int64. If an operand is an int64, so is the result. */

import { describe } from '../../bson/describe.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Int32, type Maybe } from '../../bson/value.ts';
import { call, type Expr } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { atLeast, eager, type Functions, type OperandContext } from '../definition.ts';
import { toBigInt, type Whole } from './number.ts';

export const bits: Functions = {
  'agg.bitAnd': eager({ mql: atLeast(0) }, (...values) => folded('$bitAnd', -1n, values, (a, b) => a & b)),
  'agg.bitOr': eager({ mql: atLeast(0) }, (...values) => folded('$bitOr', 0n, values, (a, b) => a | b)),
  'agg.bitXor': eager({ mql: atLeast(0) }, (...values) => folded('$bitXor', 0n, values, (a, b) => a ^ b)),
  'agg.bitNot': eager({ mql: 1 }, (value) => {
    if (isNullish(value)) return null;
    const whole = checked(value, '$bitNot');
    return whole instanceof Int32 ? new Int32(~whole.value) : ~whole;
  }),
};

function checked(value: Maybe, name: string): Whole {
  if (value instanceof Int32 || typeof value === 'bigint') return value;
  throw new QueryError('TypeMismatch', `${name} only supports int and long operands, not ${typeName(value)}`);
}

function folded(
  name: string,
  identity: bigint,
  values: readonly Maybe[],
  apply: (a: bigint, b: bigint) => bigint,
): Maybe {
  let [result, isLong] = [identity, false];
  for (const value of values) {
    if (isNullish(value)) return null;
    const operand = checked(value, name);
    isLong ||= typeof operand === 'bigint';
    result = apply(result, toBigInt(operand));
  }
  return isLong ? result : new Int32(Number(result));
}

/** $rand: a double from 0 up to, but excluding, 1; another one for each row. */
export const rand: Functions = { 'agg.rand': { mql: parseRand, volatile: true, eager: () => draw() } };

function draw(random: () => number = Math.random): number {
  return random();
}

function parseRand(operand: BsonValue, { at }: OperandContext): Expr {
  if (!(operand instanceof BsonDocument) && !Array.isArray(operand)) {
    throw new QueryError(10065, `$rand takes an empty object, found ${describe(operand)}`);
  }
  if ((operand instanceof BsonDocument ? operand.size : operand.length) > 0) {
    throw new QueryError(3040501, '$rand does not take arguments');
  }
  return call('agg.rand', [], at);
}

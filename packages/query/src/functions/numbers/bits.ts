/** $bitAnd, $bitOr, $bitXor, $bitNot of int32 and int64; an int64 among the operands makes the result one. */

import { isNullish, typeName } from '../../bson/type.ts';
import { Int32, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { atLeast, type Eager, eager, type Functions } from '../definition.ts';
import type { Whole } from './number.ts';

export const bits: Functions = {
  'agg.bitAnd': eager(
    { mql: atLeast(0) },
    folded(
      '$bitAnd',
      -1,
      (a, b) => a & b,
      (a, b) => a & b,
    ),
  ),
  'agg.bitOr': eager(
    { mql: atLeast(0) },
    folded(
      '$bitOr',
      0,
      (a, b) => a | b,
      (a, b) => a | b,
    ),
  ),
  'agg.bitXor': eager(
    { mql: atLeast(0) },
    folded(
      '$bitXor',
      0,
      (a, b) => a ^ b,
      (a, b) => a ^ b,
    ),
  ),
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
  identity: number,
  small: (a: number, b: number) => number,
  large: (a: bigint, b: bigint) => bigint,
): Eager {
  return (...values) => {
    let result: Whole = new Int32(identity);
    for (const value of values) {
      if (isNullish(value)) return null;
      const operand = checked(value, name);
      if (result instanceof Int32 && operand instanceof Int32) result = new Int32(small(result.value, operand.value));
      else result = large(wide(result), wide(operand));
    }
    return result;
  };
}

function wide(value: Whole): bigint {
  return typeof value === 'bigint' ? value : BigInt(value.value);
}

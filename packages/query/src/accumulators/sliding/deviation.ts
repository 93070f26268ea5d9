/** $stdDevPop and $stdDevSamp of a moving window: sum and sum of squared differences, updated by each value. */

import { isNumeric } from '../../bson/type.ts';
import { type BsonValue, Int32, type Maybe } from '../../bson/value.ts';
import { ExactSum } from '../../execute/sums/exact-sum.ts';
import { isFiniteNumber, type Numeric, toDouble } from '../../functions/numbers/number.ts';
import type { Sliding } from './sliding.ts';

/** @param fewer 1 for samples. */
export function slidingDeviation(fewer: 0 | 1): Sliding {
  let count = 0;
  let notFinite = 0;
  let sum = new ExactSum();
  let squares = new ExactSum();
  const change = (value: Maybe, by: 1 | -1): void => {
    if (!isNumeric(value)) return;
    if (!isFiniteNumber(value)) {
      notFinite += by;
      return;
    }
    const number = toDouble(value);
    if (count === 0) {
      count = 1;
      sum.add(number);
      return;
    }
    if (count + by === 0) {
      count = 0;
      sum = new ExactSum();
      squares = new ExactSum();
      return;
    }
    const distance = count * number - toDouble(sum.total() as Numeric);
    count += by;
    sum.add(number * by);
    squares.add((distance * distance * by) / (count * (count - by)));
  };
  const result = (): BsonValue => {
    const divisor = count - fewer;
    if (notFinite > 0 || divisor <= 0) return null;
    const total = toDouble(squares.total() as Numeric);
    // Rounding may give a result slightly below zero.
    if (total < 0 || (fewer === 0 && count === 1)) {
      squares = new ExactSum();
      return new Int32(0);
    }
    return Math.sqrt(total / divisor);
  };
  return { add: (value) => change(value, 1), remove: (value) => change(value, -1), result };
}

/** Folds that keep a few numbers: sums, means, deviations, counts. */
import { describe } from '../bson/describe.ts';
import { isNumeric } from '../bson/type.ts';
import { BsonDocument, type BsonValue, Int32, type Maybe } from '../bson/value.ts';
import { ExactSum } from '../execute/sums/exact-sum.ts';
import { isFiniteNumber, type Numeric, toDouble } from '../functions/numbers/number.ts';
import type { Accumulator } from '../plan/accumulator.ts';
import { literal } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';
import { kindOf, numbers, widest } from '../sql/types/kind.ts';
import { numberOrNull } from '../sql/types/signature.ts';
import { type Accumulators, arrayAsOperand } from './definition.ts';
import type { Fold, MergingFold } from './fold.ts';
import type { Sliding } from './sliding/sliding.ts';
import { slidingAvg, slidingSum } from './sliding/sum.ts';
import { holdsValue } from './value-set.ts';

export const numberAccumulators: Accumulators = {
  sum: {
    mql: 'expression',
    sql: { name: 'SUM', takes: numbers, gives: (argument) => widest([argument]) },
    start: () => new Sum(),
    slide: slidingSum,
    decomposes: 'distinct',
    unsorted: 'same',
  },
  avg: {
    mql: 'expression',
    sql: { name: 'AVG', takes: numbers, gives: () => numberOrNull },
    start: () => new Mean(),
    slide: slidingAvg,
    decomposes: 'distinct',
    unsorted: 'same',
  },
  stdDevPop: {
    mql: 'expression',
    sql: { name: 'STDDEV_POP', takes: numbers, gives: () => numberOrNull },
    start: () => deviation(0),
    slide: () => slidingDeviation(0),
  },
  stdDevSamp: {
    mql: 'expression',
    sql: { name: 'STDDEV_SAMP', takes: numbers, gives: () => numberOrNull },
    start: () => deviation(1),
    slide: () => slidingDeviation(1),
  },
  count: { mql: parseCount, start: () => new Count(), decomposes: 'distinct', unsorted: 'same' },
  'sql.count': {
    sql: { name: 'COUNT', gives: () => kindOf('int', 'long') },
    start: () => new CountOfValues(),
    decomposes: 'distinct',
    unsorted: 'same',
  },
};

/** Equals $sum of 1. */
function parseCount(operand: BsonValue): Accumulator {
  if (Array.isArray(operand)) throw arrayAsOperand('$count');
  if (!(operand instanceof BsonDocument) || operand.size > 0) {
    throw new QueryError('TypeMismatch', `$count takes an empty object, found ${describe(operand)}`);
  }
  return { fn: 'sum', arg: literal(new Int32(1)) };
}

// One object for each fold, because there is one for each group.

class Sum extends ExactSum implements MergingFold {
  result(): BsonValue {
    return this.total();
  }
}

class Mean extends ExactSum implements MergingFold {
  result(): BsonValue {
    return this.count === 0 ? null : this.mean();
  }
}

/** Welford's method, which loses little precision; ignores values that are not numbers. */
function deviation(fewer: 0 | 1): Fold {
  let count = 0;
  let mean = 0;
  let squares = 0;
  return {
    add: (value) => {
      if (!isNumeric(value)) return;
      const number = toDouble(value);
      const before = number - mean;
      count++;
      mean += before / count;
      squares += before * (number - mean);
    },
    result: () => (count <= fewer ? null : Math.sqrt(squares / (count - fewer))),
  };
}

class Count implements MergingFold {
  #count = 0;

  add(_value: Maybe): void {
    this.#count++;
  }

  merge(state: BsonValue): void {
    if (!isNumeric(state)) throw new Error('expected a count in a partial group');
    this.#count += toDouble(state);
  }

  result(): BsonValue {
    return this.#count === (this.#count | 0) ? new Int32(this.#count) : BigInt(this.#count);
  }

  partial(): BsonValue {
    return this.result();
  }
}

class CountOfValues extends Count {
  override add(value: Maybe): void {
    if (holdsValue(value)) super.add(value);
  }
}

/** $stdDevPop and $stdDevSamp of a moving window: sum and sum of squared differences, updated by each value. @param fewer 1 for samples. */
function slidingDeviation(fewer: 0 | 1): Sliding {
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

/** Folds that keep a few numbers: sums, means, deviations, counts. */

import { isNullish, isNumeric } from '../../bson/type.ts';
import { type Decimal128, Int32, type Maybe } from '../../bson/value.ts';
import { ExactSum } from '../exact-sum.ts';
import { toDouble } from '../functions/number.ts';
import type { Fold, Folds } from './fold.ts';

export const numberFolds: Folds<'sum' | 'avg' | 'stdDevPop' | 'stdDevSamp' | 'count' | 'sql.count' | 'sql.sum'> = {
  sum: () => {
    const sum = new ExactSum();
    return { add: (value) => sum.add(value), result: () => sum.total() };
  },
  avg: () => {
    const sum = new ExactSum();
    return { add: (value) => sum.add(value), result: () => (sum.count === 0 ? null : sum.mean()) };
  },
  stdDevPop: () => deviation(0),
  stdDevSamp: () => deviation(1),
  count: () => counting(() => true),
  'sql.count': () => counting((value) => !isNullish(value)),
  'sql.sum': () => {
    const sum = new ExactSum();
    return { add: (value) => sum.add(value), result: () => (sum.count === 0 ? null : sum.total()) };
  },
};

/** Welford's way, which loses little; what is not a number is passed over. */
function deviation(fewer: 0 | 1): Fold {
  let count = 0;
  let mean = 0;
  let squares = 0;
  return {
    add: (value) => {
      if (!isNumeric(value)) return;
      const number = plain(value);
      const before = number - mean;
      count++;
      mean += before / count;
      squares += before * (number - mean);
    },
    result: () => (count <= fewer ? null : Math.sqrt(squares / (count - fewer))),
  };
}

function plain(value: number | bigint | Int32 | Decimal128): number {
  if (typeof value === 'number') return value;
  return toDouble(value);
}

function counting(counts: (value: Maybe) => boolean): Fold {
  let count = 0;
  return {
    add: (value) => {
      if (counts(value)) count++;
    },
    result: () => (count === (count | 0) ? new Int32(count) : BigInt(count)),
  };
}

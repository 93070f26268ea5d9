/** Folds that keep a few numbers: sums, means, deviations, counts. */

import { isNullish, isNumeric } from '../../bson/type.ts';
import { type BsonValue, type Decimal128, Int32, type Maybe } from '../../bson/value.ts';
import { ExactSum } from '../exact-sum.ts';
import { toDouble } from '../functions/number.ts';
import type { Fold, Folds, MergingFold, MergingFolds } from './fold.ts';

export const numberFolds: MergingFolds<'sum' | 'avg' | 'count' | 'sql.count' | 'sql.sum'> &
  Folds<'stdDevPop' | 'stdDevSamp'> = {
  sum: () => summing((sum) => sum.total()),
  avg: () => summing((sum) => (sum.count === 0 ? null : sum.mean())),
  'sql.sum': () => summing((sum) => (sum.count === 0 ? null : sum.total())),
  stdDevPop: () => deviation(0),
  stdDevSamp: () => deviation(1),
  count: () => counting(() => true),
  'sql.count': () => counting((value) => !isNullish(value)),
};

function summing(result: (sum: ExactSum) => BsonValue): MergingFold {
  const sum = new ExactSum();
  return {
    add: (value) => sum.add(value),
    result: () => result(sum),
    partial: () => sum.partial(),
    merge: (state) => sum.merge(state),
  };
}

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

function counting(counts: (value: Maybe) => boolean): MergingFold {
  let count = 0;
  const result = (): BsonValue => (count === (count | 0) ? new Int32(count) : BigInt(count));
  return {
    add: (value) => {
      if (counts(value)) count++;
    },
    result,
    partial: result,
    merge: (state) => {
      if (!isNumeric(state)) throw new Error('expected a count in a partial group');
      count += toDouble(state);
    },
  };
}

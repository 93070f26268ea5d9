/** Folds that keep a few numbers: sums, means, deviations, counts. */

import { isNumeric } from '../../bson/type.ts';
import { type BsonValue, type Decimal128, Int32, type Maybe } from '../../bson/value.ts';
import { toDouble } from '../functions/numbers/number.ts';
import { ExactSum } from '../sums/exact-sum.ts';
import type { Fold, Folds, MergingFold, MergingFolds } from './fold.ts';
import { holdsValue } from './holds-value.ts';

export const numberFolds: MergingFolds<'sum' | 'avg' | 'count' | 'sql.count'> & Folds<'stdDevPop' | 'stdDevSamp'> = {
  sum: () => new Sum(),
  avg: () => new Mean(),
  stdDevPop: () => deviation(0),
  stdDevSamp: () => deviation(1),
  count: () => new Count(),
  'sql.count': () => new CountOfValues(),
};

// One object for each fold: there is one for each group.

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

/** The folds of $group. */

import { compareValues } from '../bson/compare.ts';
import { valueKey } from '../bson/key.ts';
import { isNullish } from '../bson/type.ts';
import { type BsonValue, Int32, type Maybe } from '../bson/value.ts';
import type { AccumulatorName } from '../plan/stage.ts';
import { ExactSum } from './exact-sum.ts';
import { sizeOf } from './size.ts';

export interface Fold {
  readonly add: (value: Maybe) => void;
  readonly result: () => BsonValue;
}

/** `hold` is told of the bytes that a fold comes to keep, or gives back. */
type NewFold = (hold: (bytes: number) => void) => Fold;

export const accumulators: Readonly<Record<AccumulatorName, NewFold>> = {
  sum: () => {
    const sum = new ExactSum();
    return { add: (value) => sum.add(value), result: () => sum.total() };
  },
  avg: () => {
    const sum = new ExactSum();
    return { add: (value) => sum.add(value), result: () => (sum.count === 0 ? null : sum.mean()) };
  },
  min: (hold) => extreme(-1, hold),
  max: (hold) => extreme(1, hold),
  first: (hold) => {
    let first: Maybe;
    let any = false;
    return {
      add: (value) => {
        if (any) return;
        hold(sizeOf(value));
        first = value;
        any = true;
      },
      result: () => first ?? null,
    };
  },
  last: (hold) => {
    let last: Maybe;
    return {
      add: (value) => {
        hold(sizeOf(value) - sizeOf(last));
        last = value;
      },
      result: () => last ?? null,
    };
  },
  count: () => counting(() => true),
  push: (hold) => {
    const values: BsonValue[] = [];
    return {
      add: (value) => {
        if (value === undefined) return;
        hold(sizeOf(value));
        values.push(value);
      },
      result: () => values,
    };
  },
  addToSet: (hold) => {
    const values = new Map<string, BsonValue>();
    return {
      add: (value) => {
        if (value === undefined) return;
        const id = valueKey(value);
        if (values.has(id)) return;
        hold(sizeOf(value) + id.length);
        values.set(id, value);
      },
      result: () => [...values.values()],
    };
  },
  'sql.count': () => counting((value) => !isNullish(value)),
  'sql.sum': () => {
    const sum = new ExactSum();
    return { add: (value) => sum.add(value), result: () => (sum.count === 0 ? null : sum.total()) };
  },
};

/** Null and missing do not take part. */
function extreme(sign: 1 | -1, hold: (bytes: number) => void): Fold {
  let best: Maybe;
  return {
    add: (value) => {
      if (isNullish(value)) return;
      if (best !== undefined && compareValues(value, best) * sign <= 0) return;
      hold(sizeOf(value) - sizeOf(best));
      best = value;
    },
    result: () => best ?? null,
  };
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

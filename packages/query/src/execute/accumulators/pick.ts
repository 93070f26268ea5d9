/** Folds that keep single values: the first, last, least and greatest. */

import { compareValues } from '../../bson/compare.ts';
import { isNullish } from '../../bson/type.ts';
import type { Maybe } from '../../bson/value.ts';
import { sizeOf } from '../size.ts';
import type { Fold, Folds } from './fold.ts';

export const pickFolds: Folds<'min' | 'max' | 'first' | 'last'> = {
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

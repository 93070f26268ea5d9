/** Folds that keep single values: the first, last, least and greatest. */

import { compareValues } from '../../bson/compare.ts';
import { isNullish } from '../../bson/type.ts';
import type { BsonDocument, BsonValue, Maybe } from '../../bson/value.ts';
import type { SortKey } from '../../plan/stage.ts';
import { sizeOf } from '../size.ts';
import { compareKeys, sortKeysOf } from '../sort-keys.ts';
import type { MergingFold, MergingFolds } from './fold.ts';
import { keysAndValue, stateOf } from './top.ts';

type Hold = (bytes: number) => void;

export const pickFolds: MergingFolds<'min' | 'max' | 'first' | 'last'> = {
  min: (hold, { by }) => (by === undefined ? extreme(-1, hold) : extremeInOrder(-1, hold, by)),
  max: (hold, { by }) => (by === undefined ? extreme(1, hold) : extremeInOrder(1, hold, by)),
  first: (hold) => {
    let first: Maybe;
    let any = false;
    const add = (value: Maybe): void => {
      if (any) return;
      hold(sizeOf(value));
      first = value;
      any = true;
    };
    const result = (): BsonValue => first ?? null;
    return { add, merge: add, result, partial: result };
  },
  last: (hold) => {
    let last: Maybe;
    const add = (value: Maybe): void => {
      hold(sizeOf(value) - sizeOf(last));
      last = value;
    };
    const result = (): BsonValue => last ?? null;
    return { add, merge: add, result, partial: result };
  },
};

/** Null and missing do not take part. */
function extreme(sign: 1 | -1, hold: Hold): MergingFold {
  let best: Maybe;
  const add = (value: Maybe): void => {
    if (isNullish(value)) return;
    if (best !== undefined && compareValues(value, best) * sign <= 0) return;
    hold(sizeOf(value) - sizeOf(best));
    best = value;
  };
  const result = (): BsonValue => best ?? null;
  return { add, merge: add, result, partial: result };
}

/** As `extreme` over sorted rows: of equal values that are not the same, it keeps that of the first row in the order. */
function extremeInOrder(sign: 1 | -1, hold: Hold, by: readonly SortKey[]): MergingFold {
  let best: Maybe;
  let bestKeys: BsonValue[] | undefined;
  const offer = (value: BsonValue, keysOf: () => BsonValue[]): void => {
    const order = best === undefined ? 1 : compareValues(value, best) * sign;
    if (order < 0) return;
    const keys = keysOf();
    if (order === 0 && compareKeys(keys, bestKeys ?? [], by) >= 0) return;
    hold(sizeOf(value) + sizeOf(keys) - sizeOf(best) - sizeOf(bestKeys));
    [best, bestKeys] = [value, keys];
  };
  return {
    add: (value: Maybe, row: BsonDocument) => {
      if (!isNullish(value)) offer(value as BsonValue, () => sortKeysOf(row, by));
    },
    result: () => best ?? null,
    partial: () => stateOf(bestKeys, best),
    merge: (state) => {
      const found = keysAndValue(state);
      if (found !== undefined) offer(found.value, () => found.keys);
    },
  };
}

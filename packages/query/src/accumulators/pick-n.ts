/** The folds that keep up to N values: $firstN, $lastN, $minN, $maxN, and, with their own order, $topN and $bottomN. */

import { compareValues } from '../bson/compare.ts';
import { isNullish } from '../bson/type.ts';
import type { BsonDocument, BsonValue, Maybe } from '../bson/value.ts';
import { sizeOf } from '../execute/limits/size-limits.ts';
import { compareKeys, sortKeysOf } from '../execute/stages/sort-keys.ts';
import type { SortKey } from '../plan/sort-key.ts';
import type { Accumulators } from './definition.ts';
import type { MergingFold } from './fold.ts';
import { parseInput, parseOrdered } from './n-operands.ts';
import { keysAndValue, stateOf } from './top.ts';

type Hold = (bytes: number) => void;

export const pickNAccumulators: Accumulators = {
  firstN: {
    mql: parseInput('firstN'),
    decomposes: 'rows',
    unsorted: { as: 'topN' },
    start: (hold, _spec, n) => {
      const values: BsonValue[] = [];
      return mergingValues(
        (value) => {
          if (values.length >= n) return;
          hold(sizeOf(value));
          values.push(value ?? null);
        },
        () => values,
      );
    },
  },
  lastN: {
    mql: parseInput('lastN'),
    decomposes: 'rows',
    unsorted: { as: 'bottomN' },
    start: (hold, _spec, n) => {
      const values: BsonValue[] = [];
      return mergingValues(
        (value) => {
          hold(sizeOf(value));
          values.push(value ?? null);
          if (values.length < 2 * n + 16) return;
          for (const dropped of values.splice(0, values.length - n)) hold(-sizeOf(dropped));
        },
        () => values.slice(-n),
      );
    },
  },
  minN: {
    mql: parseInput('minN'),
    decomposes: 'rows',
    unsorted: 'oneForm',
    start: (hold, _spec, n) => extremes(1, hold, n),
  },
  maxN: {
    mql: parseInput('maxN'),
    decomposes: 'rows',
    unsorted: 'oneForm',
    start: (hold, _spec, n) => extremes(-1, hold, n),
  },
  topN: {
    mql: parseOrdered('topN', true),
    decomposes: 'rows',
    start: (hold, spec, n) => topmost(hold, spec.by ?? [], n, 1),
  },
  bottomN: {
    mql: parseOrdered('bottomN', true),
    decomposes: 'rows',
    start: (hold, spec, n) => topmost(hold, spec.by ?? [], n, -1),
  },
};

/** A fold whose state is its values: merging means folding the values of the other fold. */
function mergingValues(add: (value: Maybe) => void, values: () => BsonValue[]): MergingFold {
  return {
    add,
    merge: (state) => {
      for (const value of itemsOf(state)) add(value);
    },
    partial: values,
    result: values,
  };
}

function itemsOf(state: BsonValue): readonly BsonValue[] {
  if (!Array.isArray(state)) throw new Error('expected the values that were kept in a partial group');
  return state;
}

/** The n least values if `sign` is 1, the n greatest if -1, in that order; ignores null and missing. */
function extremes(sign: 1 | -1, hold: Hold, n: number): MergingFold {
  const best = new Best<BsonValue>(hold, n, (left, right) => compareValues(left, right) * sign, sizeOf);
  return mergingValues(
    (value) => {
      if (!isNullish(value)) best.add(value as BsonValue);
    },
    () => best.values(),
  );
}

interface Ranked {
  readonly keys: readonly BsonValue[];
  readonly value: BsonValue;
  readonly order: number;
}

/** The first N in the order if `sign` is 1, the last N if -1; the result is in that order either way. */
function topmost(hold: Hold, by: readonly SortKey[], n: number, sign: 1 | -1): MergingFold {
  const compare = (left: Ranked, right: Ranked): number =>
    (compareKeys(left.keys, right.keys, by) || left.order - right.order) * sign;
  const best = new Best<Ranked>(hold, n, compare, ({ keys, value }) => sizeOf(value) + sizeOf([...keys]));
  let order = 0;
  const add = (keys: readonly BsonValue[], value: BsonValue): void => best.add({ keys, value, order: order++ });
  const inOrder = (): readonly Ranked[] => (sign === 1 ? best.values() : best.values().toReversed());
  return {
    add: (value, row: BsonDocument) => add(sortKeysOf(row, by), value ?? null),
    merge: (state) => {
      for (const item of itemsOf(state)) {
        const { keys, value } = keysAndValue(item) ?? {};
        if (keys !== undefined && value !== undefined) add(keys, value);
      }
    },
    partial: () => inOrder().map(({ keys, value }) => stateOf([...keys], value)),
    result: () => inOrder().map(({ value }) => value),
  };
}

/** Keeps the first `n` of an order; sorts now and then. */
class Best<T> {
  #kept: T[] = [];
  #worst: T | undefined;
  readonly #hold: Hold;
  readonly #n: number;
  readonly #compare: (left: T, right: T) => number;
  readonly #size: (value: T) => number;

  constructor(hold: Hold, n: number, compare: (left: T, right: T) => number, size: (value: T) => number) {
    this.#hold = hold;
    this.#n = n;
    this.#compare = compare;
    this.#size = size;
  }

  add(value: T): void {
    if (this.#worst !== undefined && this.#compare(value, this.#worst) >= 0) return;
    this.#hold(this.#size(value));
    this.#kept.push(value);
    if (this.#kept.length >= 2 * this.#n + 16) this.#cut();
  }

  values(): T[] {
    this.#cut();
    return this.#kept;
  }

  #cut(): void {
    this.#kept.sort(this.#compare);
    for (const dropped of this.#kept.splice(this.#n)) this.#hold(-this.#size(dropped));
    if (this.#kept.length === this.#n) this.#worst = this.#kept.at(-1);
  }
}

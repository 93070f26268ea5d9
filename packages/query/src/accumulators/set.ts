/** $addToSet, accumulators that need only the size of a set, and folds that count each value once. */

import { valueKey } from '../bson/key.ts';
import { BsonDocument, type BsonValue, Int32, type Maybe } from '../bson/value.ts';
import { sizeOf } from '../execute/limits/size-limits.ts';
import { arrayOf } from '../sql/types/kind.ts';
import type { Accumulators } from './definition.ts';
import type { Fold, MergingFold } from './fold.ts';
import type { Sliding } from './sliding/sliding.ts';
import { ValueSet, valuesOf } from './value-set.ts';

/** Represents the row of values that were folded elsewhere. */
const noRow = new BsonDocument();

export const setAccumulators: Accumulators = {
  addToSet: {
    mql: 'expression',
    sql: { name: 'ADD_TO_SET', gives: arrayOf },
    start: (hold) => new OfSet(new ValueSet(hold), (set) => set.sorted()),
    slide: (_accumulator, hold) => slidingSet(hold),
    decomposes: 'distinct',
    unsorted: 'oneForm',
  },
  /** How many values $addToSet would have. */
  setSize: {
    start: (hold) => new OfSet(new ValueSet(hold), (set) => new Int32(set.size)),
    decomposes: 'rows',
    unsorted: 'same',
  },
};

/** @param fold gets each value once, the first of equal ones. */
export function distinctFold(fn: string, fold: Fold, hold: (bytes: number) => void): MergingFold {
  const set = new ValueSet(hold);
  return fn === 'sql.count' ? new OfSet(set, () => new Int32(set.known)) : new Distinct(set, fold);
}

/** A result computed from the whole set. */
class OfSet implements MergingFold {
  readonly #set: ValueSet;
  readonly #shown: (set: ValueSet) => BsonValue;

  constructor(set: ValueSet, shown: (set: ValueSet) => BsonValue) {
    this.#set = set;
    this.#shown = shown;
  }

  /** Ignores missing. */
  add(value: Maybe): void {
    if (value !== undefined) this.#set.add(value);
  }

  merge(state: BsonValue): void {
    this.#set.merge(state);
  }

  partial(): BsonValue {
    return this.#set.state();
  }

  result(): BsonValue {
    return this.#shown(this.#set);
  }
}

/** Gives each value once to another fold. */
class Distinct implements MergingFold {
  readonly #set: ValueSet;
  readonly #fold: Fold;
  #isMissingSeen = false;

  constructor(set: ValueSet, fold: Fold) {
    this.#set = set;
    this.#fold = fold;
  }

  add(value: Maybe, row: BsonDocument): void {
    if (value === undefined ? this.#isMissingSeen : !this.#set.add(value)) return;
    if (value === undefined) this.#isMissingSeen = true;
    this.#fold.add(value, row);
  }

  /** Only for accumulators that ignore missing values and the row. */
  merge(state: BsonValue): void {
    for (const value of valuesOf(state)) if (this.#set.add(value)) this.#fold.add(value, noRow);
  }

  partial(): BsonValue {
    return this.#set.state();
  }

  result(): BsonValue {
    return this.#fold.result();
  }
}

/** $addToSet of a moving window: how often each value is in it. */
function slidingSet(hold: (bytes: number) => void): Sliding {
  const values = new Map<string, { readonly value: BsonValue; times: number }>();
  return {
    add: (value: Maybe) => {
      if (value === undefined) return;
      const id = valueKey(value);
      const known = values.get(id);
      if (known !== undefined) known.times++;
      else {
        values.set(id, { value, times: 1 });
        hold(sizeOf(value) + id.length);
      }
    },
    remove: (value: Maybe) => {
      if (value === undefined) return;
      const id = valueKey(value);
      const known = values.get(id);
      if (known === undefined || --known.times > 0) return;
      values.delete(id);
      hold(-sizeOf(known.value) - id.length);
    },
    result: () => [...values.values()].map(({ value }) => value),
  };
}

/** $addToSet, what only its size is asked of, and the folds that take each value once. */

import { BsonDocument, type BsonValue, Int32, type Maybe } from '../../bson/value.ts';
import type { Fold, MergingFold, MergingFolds } from './fold.ts';
import { ValueSet, valuesOf } from './value-set.ts';

/** The rows of values that were folded elsewhere: none of the accumulators that take each value once looks at its row. */
const noRow = new BsonDocument();

export const setFolds: MergingFolds<'addToSet' | 'setSize'> = {
  addToSet: (hold) => new Distinct(new ValueSet(hold), (set) => set.sorted()),
  setSize: (hold) => new Distinct(new ValueSet(hold), (set) => new Int32(set.size)),
};

/** @param fold gets each value once, the first of equal ones. */
export function distinctFold(fold: Fold, hold: (bytes: number) => void): MergingFold {
  return new Distinct(new ValueSet(hold), () => fold.result(), fold);
}

class Distinct implements MergingFold {
  readonly #set: ValueSet;
  readonly #shown: (set: ValueSet) => BsonValue;
  readonly #fold: Fold | undefined;
  #isMissingSeen = false;

  constructor(set: ValueSet, shown: (set: ValueSet) => BsonValue, fold?: Fold) {
    this.#set = set;
    this.#shown = shown;
    this.#fold = fold;
  }

  /** Missing is no value of the set. */
  add(value: Maybe, row: BsonDocument): void {
    if (value === undefined ? this.#isMissingSeen : !this.#set.add(value)) return;
    if (value === undefined) this.#isMissingSeen = true;
    this.#fold?.add(value, row);
  }

  merge(state: BsonValue): void {
    for (const value of valuesOf(state)) if (this.#set.add(value)) this.#fold?.add(value, noRow);
  }

  partial(): BsonValue {
    return this.#set.state();
  }

  result(): BsonValue {
    return this.#shown(this.#set);
  }
}

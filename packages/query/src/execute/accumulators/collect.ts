/** Folds whose result grows with the rows: arrays, sets and merged objects. */

import { valueKey } from '../../bson/key.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { sizeOf } from '../size.ts';
import type { Fold, Folds } from './fold.ts';

export const collectFolds: Folds<'push' | 'addToSet' | 'setUnion' | 'concatArrays' | 'mergeObjects'> = {
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
    const set = new ValueSet(hold);
    return {
      add: (value) => {
        if (value !== undefined) set.add(value);
      },
      result: () => set.values(),
    };
  },
  setUnion: (hold) => {
    const set = new ValueSet(hold);
    return ofArrays(
      '$setUnion',
      (item) => set.add(item),
      () => set.values(),
    );
  },
  concatArrays: (hold) => {
    const values: BsonValue[] = [];
    const add = (item: BsonValue): void => {
      hold(sizeOf(item));
      values.push(item);
    };
    return ofArrays('$concatArrays', add, () => values);
  },
  mergeObjects: (hold) => {
    const merged = new BsonDocument();
    return {
      add: (value) => {
        if (isNullish(value)) return;
        if (!(value instanceof BsonDocument)) {
          throw new QueryError(40400, `$mergeObjects takes objects, found ${typeName(value)}`);
        }
        for (const [name, field] of value) {
          hold(sizeOf(field) - (merged.has(name) ? sizeOf(merged.get(name)) : -24 - name.length));
          merged.set(name, field);
        }
      },
      result: () => merged,
    };
  },
};

/** Missing is passed over; all else must be an array. */
function ofArrays(name: string, add: (item: BsonValue) => void, result: () => BsonValue[]): Fold {
  return {
    add: (value) => {
      if (value === undefined) return;
      if (!Array.isArray(value)) {
        throw new QueryError('TypeMismatch', `${name} requires array inputs, found ${typeName(value)}`);
      }
      for (const item of value) add(item);
    },
    result,
  };
}

/** Values once each, in the order in which they came. */
class ValueSet {
  readonly #values = new Map<string, BsonValue>();
  readonly #hold: (bytes: number) => void;

  constructor(hold: (bytes: number) => void) {
    this.#hold = hold;
  }

  add(value: BsonValue): void {
    const id = valueKey(value);
    if (this.#values.has(id)) return;
    this.#hold(sizeOf(value) + id.length);
    this.#values.set(id, value);
  }

  values(): BsonValue[] {
    return [...this.#values.values()];
  }
}

/** Folds whose result grows with the rows: arrays, sets and merged objects. */

import { isNullish, typeName } from '../bson/type.ts';
import { BsonDocument, type BsonValue } from '../bson/value.ts';
import { sizeOf } from '../execute/limits/size-limits.ts';
import { QueryError } from '../query-error.ts';
import { arrayOf, orNull } from '../sql/types/kind.ts';
import type { Accumulators } from './definition.ts';
import type { Fold } from './fold.ts';
import { ValueSet } from './value-set.ts';

export const collectAccumulators: Accumulators = {
  push: {
    mql: 'expression',
    sql: { name: 'ADD_TO_ARRAY', gives: arrayOf },
    start: (hold) => {
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
  },
  setUnion: {
    mql: 'expression',
    start: (hold) => {
      const set = new ValueSet(hold);
      return ofArrays(
        '$setUnion',
        (item) => set.add(item),
        () => set.values(),
      );
    },
  },
  concatArrays: {
    mql: 'expression',
    start: (hold) => {
      const values: BsonValue[] = [];
      const add = (item: BsonValue): void => {
        hold(sizeOf(item));
        values.push(item);
      };
      return ofArrays('$concatArrays', add, () => values);
    },
  },
  mergeObjects: {
    mql: 'expression',
    notInWindows: true,
    sql: { name: 'MERGE_DOCUMENTS', takes: ['object'], gives: orNull },
    start: (hold) => {
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
  },
};

/** Ignores missing values; every other value must be an array. */
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

/** $top and $bottom, which keep the value of one row: the first (last) in their own order. */

import { BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import { sizeOf } from '../execute/limits/size-limits.ts';
import { compareKeys, sortKeysOf } from '../execute/stages/sort-keys.ts';
import type { SortKey } from '../plan/sort-key.ts';
import type { Accumulators } from './definition.ts';
import type { MergingFold } from './fold.ts';
import { parseOrdered } from './n-operands.ts';

export const topAccumulators: Accumulators = {
  top: {
    mql: parseOrdered('top', false),
    start: (hold, spec) => new Topmost(hold, spec.by ?? [], false),
    decomposes: 'rows',
  },
  bottom: {
    mql: parseOrdered('bottom', false),
    start: (hold, spec) => new Topmost(hold, spec.by ?? [], true),
    decomposes: 'rows',
  },
};

class Topmost implements MergingFold {
  readonly #hold: (bytes: number) => void;
  readonly #by: readonly SortKey[];
  readonly #last: boolean;
  #keys: BsonValue[] | undefined;
  #value: Maybe;

  constructor(hold: (bytes: number) => void, by: readonly SortKey[], last: boolean) {
    this.#hold = hold;
    this.#by = by;
    this.#last = last;
  }

  add(value: Maybe, row: BsonDocument): void {
    this.#offer(sortKeysOf(row, this.#by), value);
  }

  merge(state: BsonValue): void {
    const found = keysAndValue(state);
    if (found !== undefined) this.#offer(found.keys, found.value);
  }

  result(): BsonValue {
    return this.#value ?? null;
  }

  partial(): BsonValue {
    return stateOf(this.#keys, this.#value);
  }

  #offer(keys: BsonValue[], value: Maybe): void {
    if (this.#keys !== undefined) {
      const order = compareKeys(keys, this.#keys, this.#by);
      // Among rows with equal keys, $top keeps the first row and $bottom takes the last.
      if (this.#last ? order < 0 : order >= 0) return;
    }
    this.#hold(sizeOf(value) + sizeOf(keys) - sizeOf(this.#value) - sizeOf(this.#keys));
    this.#keys = keys;
    this.#value = value;
  }
}

/** The state of a fold that keeps a row's value and its sort keys. */
export function stateOf(keys: BsonValue[] | undefined, value: Maybe): BsonValue {
  return keys === undefined ? null : BsonDocument.of({ k: keys, v: value ?? null });
}

export function keysAndValue(state: BsonValue): { keys: BsonValue[]; value: BsonValue } | undefined {
  if (state === null) return undefined;
  const keys = state instanceof BsonDocument ? state.get('k') : undefined;
  const value = state instanceof BsonDocument ? state.get('v') : undefined;
  if (!Array.isArray(keys) || value === undefined) throw new Error('expected the sort keys and the value of a row');
  return { keys, value };
}

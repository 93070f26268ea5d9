/** $top and $bottom, which keep one row's value: that of the first (last) row in an order of their own. */

import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { SortKey } from '../../plan/stage.ts';
import { sizeOf } from '../size.ts';
import { compareKeys, sortKeysOf } from '../sort-keys.ts';
import type { MergingFold, MergingFolds } from './fold.ts';

export const topFolds: MergingFolds<'top' | 'bottom'> = {
  // Of rows with equal keys the first one stays the first, and the last one becomes the last.
  top: (hold, spec) => topmost(hold, spec.by ?? [], (order) => order < 0),
  bottom: (hold, spec) => topmost(hold, spec.by ?? [], (order) => order >= 0),
};

function topmost(hold: (bytes: number) => void, by: readonly SortKey[], wins: (order: number) => boolean): MergingFold {
  let best: BsonValue[] | undefined;
  let kept: Maybe;
  let held = 0;
  const offer = (keys: BsonValue[], value: Maybe): void => {
    if (best !== undefined && !wins(compareKeys(keys, best, by))) return;
    const bytes = sizeOf(value) + sizeOf(keys);
    hold(bytes - held);
    [best, kept, held] = [keys, value, bytes];
  };
  return {
    add: (value, row) => offer(sortKeysOf(row, by), value),
    result: () => kept ?? null,
    partial: () => stateOf(best, kept),
    merge: (state) => {
      const found = keysAndValue(state);
      if (found !== undefined) offer(found.keys, found.value);
    },
  };
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

/** What every accumulator does: it takes values and returns one result. */

import type { BsonDocument, BsonValue, Maybe } from '../bson/value.ts';
import type { Accumulator } from '../plan/accumulator.ts';

export interface Fold {
  /** @param row the row from which accumulators with their own order take their keys. */
  readonly add: (value: Maybe, row: BsonDocument) => void;
  readonly result: () => BsonValue;
}

/** A fold of an accumulator that decomposes; its states are described in plan/partial-state.ts. */
export interface MergingFold extends Fold {
  readonly partial: () => BsonValue;
  /** Adds the values of another fold, after those of this one. */
  readonly merge: (state: BsonValue) => void;
}

/**
 * @param hold receives the number of bytes that a fold keeps or (negative) releases. @param n how many values to keep, for the accumulators
 * that end in N.
 */
export type NewFold = (hold: (bytes: number) => void, spec: Accumulator, n: number) => Fold;

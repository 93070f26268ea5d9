/** What every accumulator is: values go in, one comes out. */

import type { BsonDocument, BsonValue, Maybe } from '../bson/value.ts';
import type { Accumulator } from '../plan/stage.ts';

export interface Fold {
  /** @param row what the accumulators with an order of their own take their keys from. */
  readonly add: (value: Maybe, row: BsonDocument) => void;
  readonly result: () => BsonValue;
}

/** A fold of an accumulator that decomposes; the states are those of plan/partial-state.ts. */
export interface MergingFold extends Fold {
  readonly partial: () => BsonValue;
  /** Adds what another fold saw, after what this one saw. */
  readonly merge: (state: BsonValue) => void;
}

/**
 * @param hold is told of the bytes that a fold comes to keep, or gives back.
 * @param n how many values to keep, for the accumulators that end in N.
 */
export type NewFold = (hold: (bytes: number) => void, spec: Accumulator, n: number) => Fold;

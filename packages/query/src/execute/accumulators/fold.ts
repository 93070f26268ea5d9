/** What every accumulator is: values go in, one comes out. */

import type { BsonDocument, BsonValue, Maybe } from '../../bson/value.ts';
import type { Accumulator, AccumulatorName } from '../../plan/stage.ts';

export interface Fold {
  /** @param row what the accumulators with an order of their own take their keys from. */
  readonly add: (value: Maybe, row: BsonDocument) => void;
  readonly result: () => BsonValue;
}

/**
 * @param hold is told of the bytes that a fold comes to keep, or gives back.
 * @param n how many values to keep, for the accumulators that end in N.
 */
export type NewFold = (hold: (bytes: number) => void, spec: Accumulator, n: number) => Fold;

export type Folds<Name extends AccumulatorName> = Readonly<Record<Name, NewFold>>;

/** Folds from which values can be removed again, so that a moving window processes each row twice instead of once per window length. */

import type { BsonValue, Maybe } from '../../bson/value.ts';

export interface Sliding {
  readonly add: (value: Maybe) => void;
  /** Values leave in the order in which they were added. */
  readonly remove: (value: Maybe) => void;
  readonly result: () => BsonValue;
}

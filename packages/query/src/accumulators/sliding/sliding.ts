/** Folds from which values can be taken away again, so that a window that moves costs each row twice, not its length. */

import type { BsonValue, Maybe } from '../../bson/value.ts';

export interface Sliding {
  readonly add: (value: Maybe) => void;
  /** Values leave in the order in which they came. */
  readonly remove: (value: Maybe) => void;
  readonly result: () => BsonValue;
}

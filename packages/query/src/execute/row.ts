/** A row between stages: its values as far as later stages need them, and the bytes it came in, if they still hold. */

import type { BsonDocument } from '../bson/value.ts';

export interface Row {
  readonly document: BsonDocument;
  /** The whole row as BSON; absent once a stage made a new document. */
  readonly bytes?: Uint8Array;
  /** What $geoNear found: `{distance, point}`. It goes along with the row, for $meta. */
  readonly near?: BsonDocument;
}

/** Rows come and go in chunks. */
export type Rows = AsyncIterable<Row[]>;

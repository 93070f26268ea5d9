/** A row between stages: the values that later stages need, and its original bytes, if still valid. */

import type { BsonDocument } from '../bson/value.ts';

export interface Row {
  readonly document: BsonDocument;
  /** The whole row as BSON; absent once a stage has made a new document. */
  readonly bytes?: Uint8Array;
  /** What $geoNear found: `{distance, point}`. It stays with the row, for $meta. */
  readonly near?: BsonDocument;
}

/** Rows pass between stages in chunks. */
export type Rows = AsyncIterable<Row[]>;

/** What features say in their store.ts of the columns that are sealed with the instance key. */

/** A blob column that holds what `InstanceKey.encrypt` made. */
export interface SealedColumn {
  readonly table: string;
  /** Columns that name one row. */
  readonly key: readonly string[];
  readonly sealed: string;
  /** The column with `InstanceKey.hash` of the same secret, where there is one. */
  readonly hash?: string;
}

/** A text column that holds a configuration, sealed as a whole (metadata/sealed-documents.ts). */
export interface SealedDocument {
  readonly table: string;
  /** Columns that name one row. */
  readonly key: readonly [string, string];
  readonly column: string;
}

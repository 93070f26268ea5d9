/** How features declare, in their store.ts, columns that are sealed with the instance key. */

/** A blob column that contains results of `InstanceKey.encrypt`. */
export interface SealedColumn {
  readonly table: string;
  /** Columns that identify a row. */
  readonly key: readonly string[];
  readonly sealed: string;
  /** The column that contains `InstanceKey.hash` of the same secret, if there is one. */
  readonly hash?: string;
}

/** A text column with configurations, each sealed as a whole (metadata/sealed-documents.ts). */
export interface SealedDocument {
  readonly table: string;
  /** Columns that identify a row. */
  readonly key: readonly [string, string];
  readonly column: string;
}

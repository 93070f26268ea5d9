/** A blob column that holds what `InstanceKey.encrypt` made. */
export interface SealedColumn {
  readonly table: string;
  /** Columns that name one row. */
  readonly key: readonly string[];
  readonly sealed: string;
  /** The column with `InstanceKey.hash` of the same secret, where there is one. */
  readonly hash?: string;
}

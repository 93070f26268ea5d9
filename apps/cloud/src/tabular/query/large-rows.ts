/**
 * Rows with documents of this average size are handled a few at a time. DuckDB reads and sorts 2,048 whole rows at once, and needs about
 * five times their bytes for it.
 */
export const largeRows: {
  /** Bytes of a row, on average. */
  readonly rowBytes: number;
  /** Bytes of documents in one file. */
  readonly fileBytes: number;
} = { rowBytes: 16 << 10, fileBytes: 16 << 20 };

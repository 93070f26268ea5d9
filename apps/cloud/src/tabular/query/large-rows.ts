/**
 * Rows whose documents take this much on average are handled a few at a time: DuckDB reads and sorts them whole, 2,048 in one go, and
 * takes some five times their bytes while it does.
 */
export const largeRows: {
  /** Bytes of a row, on average. */
  readonly rowBytes: number;
  /** Bytes of documents in one file. */
  readonly fileBytes: number;
} = { rowBytes: 16 << 10, fileBytes: 16 << 20 };

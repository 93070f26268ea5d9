/** Rows of a Parquet row group, in all our files, at most. */
export const rowGroupRows = 61_440;

/** Rows that DuckDB reads and writes at a time. */
export const vectorRows = 2_048;
/** Of documents: a writer holds a row group about seven times, its texts once more for each of their columns. */
const rowGroupBytes = 32_000_000;

/** Rows of a row group of rows that have so many bytes of documents on average. */
export function rowsOfGroup(averageBytes: number): number {
  const vectors = Math.floor(rowGroupBytes / Math.max(1, averageBytes) / vectorRows);
  return Math.min(rowGroupRows, Math.max(1, vectors) * vectorRows);
}

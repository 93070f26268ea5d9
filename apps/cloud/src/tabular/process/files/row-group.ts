/** Maximum number of rows in a Parquet row group, in all our files. */
export const rowGroupRows = 61_440;

/** Rows that DuckDB reads and writes at a time. */
export const vectorRows = 2_048;
/** Bytes of documents in a row group: a writer holds about seven copies of a group, plus its texts once more for each text column. */
const rowGroupBytes = 32_000_000;

/** Rows of a row group whose documents have this average size. */
export function rowsOfGroup(averageBytes: number): number {
  const vectors = Math.floor(rowGroupBytes / Math.max(1, averageBytes) / vectorRows);
  return Math.min(rowGroupRows, Math.max(1, vectors) * vectorRows);
}

/** Maximum number of rows in a Parquet row group, in all our files. */
export const rowGroupRows = 61_440;

/** Rows that DuckDB reads and writes at a time. */
export const vectorRows = 2_048;

/** Rows of a row group whose documents have this average size. @param groupBytes maximum size of its documents (settings.rowGroupBytes) */
export function rowsOfGroup(averageBytes: number, groupBytes: number): number {
  const vectors = Math.floor(groupBytes / Math.max(1, averageBytes) / vectorRows);
  return Math.min(rowGroupRows, Math.max(1, vectors) * vectorRows);
}

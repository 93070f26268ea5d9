/** Rows of a Parquet row group, in all our files. */
export const rowGroupRows = 61_440;

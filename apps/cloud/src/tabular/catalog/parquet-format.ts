/** Formats of sealed files (docs/specs/tabular-store.md), as the catalog lists them. */

/** The format that is written, and the only one that queries read. */
export const parquetFormat = 2;

/** Documents without leaf columns and facts, written by earlier versions. Read only to be upgraded. */
export const legacyParquetFormat = 1;

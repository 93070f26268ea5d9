/** Formats of sealed files (docs/specs/tabular-store.md), as the catalog lists them. */

/** What is written, and the only one that queries read. */
export const parquetFormat = 2;

/** Documents without columns of leaves and without facts: what earlier versions wrote. Read only to be written again. */
export const legacyParquetFormat = 1;

/** The format of sealed files (docs/specs/tabular-store.md), as the catalog lists it: the only one. Number 1 was never released. */
export const parquetFormat = 2;

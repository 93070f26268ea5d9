/**
 * Documents and lists inside one another in what is stored already: earlier versions took 180 levels, ingest now takes
 * `maxReadingLevels`. A row wraps them twice, and what reads rows (packages/query) goes 200 deep.
 */
export const storedLevels = 180;

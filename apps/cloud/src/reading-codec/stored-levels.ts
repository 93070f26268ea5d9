/**
 * Maximum nesting of documents and lists in stored readings: earlier versions accepted 180 levels, ingest now accepts `maxReadingLevels`. A
 * row adds two levels, and the readers of rows (packages/query) allow 200.
 */
export const storedLevels = 180;

/** Full-time diagnostics: the format of their files. */
export { FtdcEncoder } from './encoder.ts';
export type { Sample } from './format.ts';
export { type FtdcFile, readFtdc, type Skipped } from './read-ftdc.ts';

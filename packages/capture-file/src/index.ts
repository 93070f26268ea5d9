/** Reader and writer of capture files. Pure, with ports for input and output. The format: docs/specs/capture-file.md. */
export { type CaptureFileWriter, createCaptureFileWriter, type WriterOptions } from './capture-file-writer.ts';
export { type DescribedReading, describeReading } from './describe-reading.ts';
export { readingsInName, sealedName } from './file-names.ts';
export { maxRecordBytes, recordBytes } from './format.ts';
export { type CaptureFileContents, readCaptureFile } from './read-capture-file.ts';
export { type CaptureFileKind, type HeaderOfFile, readCaptureFileHeader } from './read-header.ts';
export type { CaptureOutput, CaptureStorage } from './storage.ts';
export { captureFileBytes } from './write-capture-file.ts';

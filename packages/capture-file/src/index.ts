/** Reader and writer of capture files. Pure, with ports for input and output. The format: docs/specs/capture-file.md. */
export { type CaptureFileWriter, createCaptureFileWriter, type WriterOptions } from './capture-file-writer.ts';
export { type DescribedReading, describeReading } from './describe-reading.ts';
export { fileHeaderBytes, formatVersion, maxFrameBytes } from './format.ts';
export { type CaptureFileContents, readCaptureFile } from './read-capture-file.ts';
export { readCaptureFileHeader } from './read-capture-file-header.ts';
export type { CaptureOutput, CaptureStorage } from './storage.ts';

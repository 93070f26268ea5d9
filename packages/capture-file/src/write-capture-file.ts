import type { CaptureFileHeader } from '@platform/proto/platform/capture/v1/capture_file';
import { headerSeed, recordBytes, writeRecord } from './format.ts';
import { encodeHeader } from './identity.ts';

/** Builds a whole capture file in memory; deterministic for a header and readings. */
export function captureFileBytes(header: CaptureFileHeader, readings: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const body = encodeHeader(header);
  const size = readings.reduce((sum, { length }) => sum + recordBytes(length), recordBytes(body.length));
  const bytes = new Uint8Array(size);
  let { end, checksum: seed } = writeRecord(bytes, 0, body, { index: 0, seed: headerSeed });
  for (const [at, reading] of readings.entries()) ({ end } = writeRecord(bytes, end, reading, { index: at + 1, seed }));
  return bytes;
}

import { PlatformError } from '@platform/base';
import type { CaptureFileHeader } from '@platform/proto/platform/capture/v1/capture_file';
import { headerSeed, recordAt } from './format.ts';
import { decodeHeader } from './identity.ts';
import { readPublicHeader } from './public-file.ts';
import { isVersion1, readVersion1Header } from './version-1.ts';

/** 1 and 2: versions of our format. public: written by a public machine-server; its header has no stream, no seq and no part. */
export type CaptureFileKind = 1 | 2 | 'public';

export interface HeaderOfFile {
  readonly header: CaptureFileHeader;
  readonly kind: CaptureFileKind;
  /** Where the readings start. */
  readonly end: number;
  /** Checksum of the header, the seed for those of the readings; 0 unless `kind` is 2. */
  readonly seed: number;
}

/**
 * Reads the header of a capture file from its first bytes. With too few bytes, a public file cannot be distinguished from a torn one of
 * ours, so check `kind` only on a complete file.
 *
 * @throws PlatformError data_loss: not a capture file, an unsupported version, or a torn header.
 */
export function readCaptureFileHeader(bytes: Uint8Array): HeaderOfFile {
  if (isVersion1(bytes)) return { ...readVersion1Header(bytes), kind: 1, seed: 0 };
  const record = recordAt(bytes, 0, headerSeed);
  if (record.body === undefined) return { ...readPublicHeader(bytes), kind: 'public', seed: 0 };
  if (record.index !== 0) throw new PlatformError('data_loss', 'capture file that begins with a reading');
  return { header: decodeHeader(record.body), kind: 2, end: record.end, seed: record.checksum };
}

import { dataLoss } from '@platform/base';
import type { CaptureFileHeader } from '@platform/proto/platform/capture/v1/capture_file';
import { headerSeed, recordAt } from './format.ts';
import { decodeHeader } from './identity.ts';
import { readPublicHeader } from './public-file.ts';

/** public: written by a public machine-server; its header has no stream, no seq and no part. */
export type CaptureFileKind = 'own' | 'public';

export interface HeaderOfFile {
  readonly header: CaptureFileHeader;
  readonly kind: CaptureFileKind;
  /** Where the readings start. */
  readonly end: number;
  /** Checksum of the header, the seed for those of the readings; 0 for a public file. */
  readonly seed: number;
}

/**
 * Reads the header of a capture file from its first bytes. With too few bytes, a public file cannot be distinguished from a torn one of
 * ours, so check `kind` only on a complete file.
 *
 * @throws PlatformError data_loss: not a capture file, or a torn header.
 */
export function readCaptureFileHeader(bytes: Uint8Array): HeaderOfFile {
  const record = recordAt(bytes, 0, headerSeed);
  if (record.body === undefined) return { ...readPublicHeader(bytes), kind: 'public', seed: 0 };
  if (record.index !== 0) throw dataLoss('capture file that begins with a reading');
  return { header: decodeHeader(record.body), kind: 'own', end: record.end, seed: record.checksum };
}

/**
 * Checksums of a row of the ingest log: one CRC-32 over the fields that say where the row belongs, and one over its content, seeded with
 * the first. A row that was changed, moved or mixed with another fails one of them. If only the second fails, the row's owner is still
 * known.
 *
 * CRC-32 detects every burst of up to 32 bits, and anything else with probability 1 − 2^-32, at several GB/s. It does not protect against
 * forged rows.
 */
import { crc32 } from 'node:zlib';
import type { LogEntry } from '../log/log.ts';

export interface VerifiedRow extends Pick<LogEntry, 'partId' | 'stream' | 'seq' | 'sha256' | 'batch'> {
  readonly position: number;
}

export interface RowChecksums {
  /** Covers everything but the batch. */
  readonly head: number;
  readonly batch: number;
}

export function rowChecksums({ position, partId, stream, seq, sha256, batch }: VerifiedRow): RowChecksums {
  const part = Buffer.from(partId);
  const numbers = Buffer.alloc(28);
  numbers.writeDoubleLE(position, 0);
  numbers.writeDoubleLE(seq, 8);
  // Lengths are included, so that no byte can move between adjacent fields.
  numbers.writeUInt32LE(part.length, 16);
  numbers.writeUInt32LE(stream.length, 20);
  numbers.writeUInt32LE(sha256.length, 24);
  const head = crc32(sha256, crc32(stream, crc32(part, crc32(numbers))));
  return { head, batch: crc32(batch, head) };
}

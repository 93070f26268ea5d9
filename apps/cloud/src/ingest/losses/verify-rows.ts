/**
 * Distinguishes undamaged rows of the ingest log from damaged ones, and finds missing rows (D33). Pure.
 *
 * Positions follow each other without a gap, because a rolled-back transaction does not use any. The one exception is the row at which a
 * restored log continues, which belongs to no part (backup/resume-after-restore.ts).
 */
import type { LogRow } from '../log/log.ts';
import type { RecognisedUpload } from './may-restore.ts';
import { rowChecksums } from './row-checksums.ts';

/** A row as stored; damage may have changed the type of any value. */
export interface StoredRow extends Pick<RecognisedUpload, 'part' | 'seq' | 'sha256' | 'stream'> {
  readonly position: number;
  readonly batch: unknown;
  readonly head_checksum: unknown;
  readonly batch_checksum: unknown;
}

/** A restored log skips this many positions: more than the original cloud can have assigned since the backup. */
export const skippedPositions: number = 2 ** 40;

const nothing = new Uint8Array(0);

export function verifyRow(stored: StoredRow): LogRow {
  const { position, part, stream, seq, sha256, batch } = stored;
  const damaged = (parts: readonly string[] | null, reason: string): LogRow => ({
    position,
    partId: parts?.[0] ?? '',
    batch: nothing,
    damage: { first: position, last: position, parts, reason },
  });
  const isTyped =
    typeof part === 'string' && stream instanceof Uint8Array && typeof seq === 'number' && sha256 instanceof Uint8Array;
  if (!isTyped) return damaged(null, 'its part, stream or number differs from what was written');
  if (!(batch instanceof Uint8Array)) return damaged(null, 'its contents are gone');
  const proven = rowChecksums({ position, partId: part, stream, seq, sha256, batch });
  if (proven.head !== stored.head_checksum)
    return damaged(null, 'its part, stream, number or hash differs from what was written');
  if (proven.batch !== stored.batch_checksum) return damaged([part], 'its contents differ from what was written');
  return { position, partId: part, batch };
}

/** Positions missing before a row, for a reader that has read everything up to `after`. */
export function missingBefore(after: number, row: LogRow): { readonly first: number; readonly last: number } | null {
  const goesOn = row.partId === '' && row.damage === undefined && row.position - skippedPositions >= after;
  const last = row.position - (goesOn ? skippedPositions : 1);
  return last > after ? { first: after + 1, last } : null;
}

/** A placeholder for missing rows. @param owners parts of the rows still known to have existed */
export function missingRow(first: number, last: number, owners: readonly string[]): LogRow {
  const count = last - first + 1;
  const parts = owners.length === count ? [...new Set(owners)] : null;
  const reason = count === 1 ? 'the row is missing' : `${count} rows are missing`;
  return { position: last, partId: '', batch: nothing, damage: { first, last, parts, reason } };
}

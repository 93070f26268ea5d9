/**
 * Whether a row of a backup is the one that the log lost, judging by what the log still has of it: its checksums, its content, or the dedup
 * entry of the upload. Pure.
 */
import { rowChecksums, type VerifiedRow } from './row-checksums.ts';
import type { StoredRow } from './verify-rows.ts';

/** A row of `dedup`. */
export interface RecognisedUpload {
  readonly part: unknown;
  readonly stream: unknown;
  readonly seq: unknown;
  readonly sha256: unknown;
}

/**
 * @param row from a backup of this installation, proven by its checksums
 * @param stored what is at the row's position; undefined: nothing
 * @param recognised the uploads that `dedup` has for its position
 */
export function mayRestore(
  row: VerifiedRow,
  stored: StoredRow | undefined,
  recognised: readonly RecognisedUpload[],
): boolean {
  const isSameUpload = (other: RecognisedUpload): boolean =>
    other.part === row.partId &&
    isSame(other.stream, row.stream) &&
    Number(other.seq) === row.seq &&
    isSame(other.sha256, row.sha256);
  if (!recognised.every(isSameUpload)) return false;
  if (stored === undefined || recognised.length > 0) return true;
  const { head, batch } = rowChecksums(row);
  const areItsChecksums = stored.head_checksum === head && stored.batch_checksum === batch;
  return areItsChecksums || (isSameUpload(stored) && isSame(stored.batch, row.batch));
}

function isSame(found: unknown, expected: Uint8Array): boolean {
  return found instanceof Uint8Array && Buffer.from(found).equals(expected);
}

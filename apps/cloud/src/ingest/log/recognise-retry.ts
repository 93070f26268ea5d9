/**
 * The rules by which the log recognises a repeated upload (I5, I6, D13), shared by all stores. Pure.
 *
 * In this order, after applying the entry's own low-water mark:
 *   its seq is below the stream's low-water mark → settled
 *   its key is unknown                  → new: it is appended with its dedup row
 *   its key is known, same hash         → repeated, with the first copy's position and file id; new if the content of the first copy
 *                                         was deleted and the entry names its position (D13)
 *   its key is known, other hash        → conflict: kept aside, the first copy stays
 */
import type { LogEntry } from './log.ts';

/** The outcome of an upload. It must not be revealed before it is committed (I2). */
export type Outcome = { readonly outcome: 'appended'; readonly position: number; readonly fileId: string } | Recognised;

/** The outcome of an upload that is not appended. */
export type Recognised =
  | ({ readonly outcome: 'repeated' } & FirstCopy)
  | { readonly outcome: 'settled' | 'conflict'; readonly position: null; readonly fileId: string };

export interface FirstCopy {
  readonly position: number;
  readonly fileId: string;
  /** settleUntil of the first copy's entry. */
  readonly settleUntil: number | null;
}

/** The dedup row of an entry's key. */
export interface KnownUpload extends FirstCopy {
  readonly sha256: Uint8Array;
}

/** Conflicting uploads kept per part; further conflicts are refused without being kept. */
export const maxConflicts = 1_000;

/** The stream's low-water mark after applying this entry's; it never falls (I6). @param stored undefined: the stream has none yet */
export function lowWaterMarkAfter(stored: number | undefined, { lowWaterMark }: LogEntry): number {
  return Math.max(stored ?? 0, lowWaterMark);
}

/**
 * @param lowWaterMark from `lowWaterMarkAfter` @param known undefined: the log has no upload with this key. Returns null for a new upload.
 */
export function recogniseRetry(
  entry: LogEntry,
  lowWaterMark: number,
  known: KnownUpload | undefined,
): Recognised | null {
  const { seq, sha256, fileId, replaces } = entry;
  if (seq < lowWaterMark) return { outcome: 'settled', position: null, fileId };
  if (known === undefined) return null;
  if (Buffer.compare(known.sha256, sha256) !== 0) return { outcome: 'conflict', position: null, fileId };
  if (known.position === replaces) return null;
  const { position, fileId: first, settleUntil } = known;
  return { outcome: 'repeated', position, fileId: first, settleUntil };
}

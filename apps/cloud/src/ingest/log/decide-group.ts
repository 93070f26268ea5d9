/**
 * Decides the outcome of one group's uploads in memory from the previous state of the log, for a store where each query costs a round trip.
 * Pure.
 */
import type { LogEntry } from './log.ts';
import { type KnownUpload, lowWaterMarkAfter, type Outcome, recogniseRetry } from './recognise-retry.ts';

/** The streams and keys of a group that the log already holds. */
export interface Known {
  readonly lastPosition: number;
  /** By streamKey. */
  readonly lowWaterMarks: ReadonlyMap<string, number>;
  /** By entryKey. */
  readonly uploads: ReadonlyMap<string, KnownUpload>;
}

export interface Decision {
  /** In the order of the entries. */
  readonly outcomes: readonly Outcome[];
  readonly appended: readonly { readonly entry: LogEntry; readonly position: number }[];
  /** Appended uploads whose dedup row is still needed when the group is done. */
  readonly remembered: readonly { readonly entry: LogEntry; readonly position: number }[];
  readonly conflicts: readonly LogEntry[];
  /** Streams whose low-water mark rose, once each, with any of its entries. */
  readonly raised: readonly { readonly entry: LogEntry; readonly lowWaterMark: number }[];
  readonly lastPosition: number;
}

export function decideGroup(known: Known, entries: readonly LogEntry[]): Decision {
  const lowWaterMarks = new Map(known.lowWaterMarks);
  const uploads = new Map(known.uploads);
  const raised = new Map<string, { entry: LogEntry; lowWaterMark: number }>();
  const appended: { entry: LogEntry; position: number }[] = [];
  const conflicts: LogEntry[] = [];
  let lastPosition = known.lastPosition;

  const outcomes = entries.map((entry): Outcome => {
    const stream = streamKey(entry);
    const stored = lowWaterMarks.get(stream);
    const lowWaterMark = lowWaterMarkAfter(stored, entry);
    if (lowWaterMark > (stored ?? 0)) {
      lowWaterMarks.set(stream, lowWaterMark);
      raised.set(stream, { entry, lowWaterMark });
    }
    const key = entryKey(entry);
    const recognised = recogniseRetry(entry, lowWaterMark, uploads.get(key));
    if (recognised?.outcome === 'conflict') conflicts.push(entry);
    if (recognised !== null) return recognised;
    const position = ++lastPosition;
    const { sha256, fileId, settleUntil = null } = entry;
    appended.push({ entry, position });
    uploads.set(key, { sha256, position, fileId, settleUntil });
    return { outcome: 'appended', position, fileId };
  });
  // A later upload of the group may have settled an earlier one.
  const remembered = appended.filter(({ entry }) => entry.seq >= (lowWaterMarks.get(streamKey(entry)) ?? 0));
  return { outcomes, appended, remembered, conflicts, raised: [...raised.values()], lastPosition };
}

export function streamKey({ partId, stream }: Pick<LogEntry, 'partId' | 'stream'>): string {
  return `${hex(stream)}/${partId}`;
}

export function entryKey(entry: Pick<LogEntry, 'partId' | 'stream' | 'seq'>): string {
  return `${entry.seq}/${streamKey(entry)}`;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
}

/**
 * What becomes of the uploads of one group, decided in memory from what the log knew before: the rule that appender.ts states,
 * for a store where each question costs a journey. Pure.
 */
import type { FirstCopy, Outcome } from './appender.ts';
import type { LogEntry } from './log.ts';

/** What the log holds of the streams and keys of a group, before it. */
export interface Known {
  readonly lastPosition: number;
  /** By streamKey. */
  readonly floors: ReadonlyMap<string, number>;
  /** By entryKey. */
  readonly uploads: ReadonlyMap<string, KnownUpload>;
}

export interface KnownUpload extends FirstCopy {
  readonly sha256: Uint8Array;
}

export interface Decision {
  /** In the order of the entries. */
  readonly outcomes: readonly Outcome[];
  readonly appended: readonly { readonly entry: LogEntry; readonly position: number }[];
  /** Their place among the appended ones is still needed when the group is done. */
  readonly remembered: readonly { readonly entry: LogEntry; readonly position: number }[];
  readonly conflicts: readonly LogEntry[];
  /** Streams whose floor rose, each once, with any entry of it. */
  readonly raised: readonly { readonly entry: LogEntry; readonly floor: number }[];
  readonly lastPosition: number;
}

export function decideGroup(known: Known, entries: readonly LogEntry[]): Decision {
  const floors = new Map(known.floors);
  const uploads = new Map(known.uploads);
  const raised = new Map<string, { entry: LogEntry; floor: number }>();
  const appended: { entry: LogEntry; position: number }[] = [];
  const conflicts: LogEntry[] = [];
  let lastPosition = known.lastPosition;

  const outcomes = entries.map((entry): Outcome => {
    const { seq, floor, sha256, fileId } = entry;
    const stream = streamKey(entry);
    const stored = floors.get(stream) ?? 0;
    if (floor > stored) {
      floors.set(stream, floor);
      raised.set(stream, { entry, floor });
    }
    if (seq < Math.max(stored, floor)) return { outcome: 'settled', position: null, fileId };
    const key = entryKey(entry);
    const found = uploads.get(key);
    const isSame = found !== undefined && Buffer.compare(found.sha256, sha256) === 0;
    if (found === undefined || (isSame && found.position === entry.replaces)) {
      const position = ++lastPosition;
      appended.push({ entry, position });
      uploads.set(key, { sha256, position, fileId, settleUntil: entry.settleUntil ?? null });
      return { outcome: 'appended', position, fileId };
    }
    if (isSame) {
      const { sha256: _, ...first } = found;
      return { outcome: 'repeated', ...first };
    }
    conflicts.push(entry);
    return { outcome: 'conflict', position: null, fileId };
  });
  // A later upload of the group may have settled an earlier one.
  const remembered = appended.filter(({ entry }) => entry.seq >= (floors.get(streamKey(entry)) ?? 0));
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

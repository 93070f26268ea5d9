/** What earlier runs left in the journal. */
import { errorText, type Log } from '@platform/base';
import type { JournalDisk } from './journal-disk.ts';
import { type Entry, entryOf, type Segment, segmentOf } from './journal-entry.ts';
import { decodeSegment } from './journal-line.ts';

export interface FoundJournal {
  /** Records that the cloud does not have, oldest first; none of them grows any more. */
  readonly entries: readonly Entry[];
  /** Oldest first. */
  readonly segments: readonly Segment[];
  /** Segments without such records: they may be removed. */
  readonly settled: readonly number[];
}

/** A segment that cannot be read is logged, and kept. @throws the system's error if the folder cannot be read */
export async function readJournal(disk: Pick<JournalDisk, 'list' | 'read'>, log: Log): Promise<FoundJournal> {
  const segments: Segment[] = [];
  const entries = new Map<string, Entry>();
  const last = new Map<string, string>();
  const dropped = new Set<number>();
  for (const number of await disk.list()) {
    let bytes: Buffer;
    try {
      bytes = await disk.read(number);
    } catch (caught) {
      log.error('calls recorded earlier cannot be read', { segment: number, error: errorText(caught) });
      segments.push(segmentOf(number, 0, true));
      continue;
    }
    const segment = segmentOf(number, bytes.length);
    segments.push(segment);
    const decoded = decodeSegment(bytes);
    for (const { record, state, offset } of decoded.records) {
      // A record that was moved from a broken segment is in two; the later one is at least as new.
      const before = entries.get(record.id);
      const entry = entryOf({ ...record, count: Math.max(record.count, before?.record.count ?? 0) }, false);
      entry.isTold = state === 'told' || before?.isTold === true;
      entry.segment = segment;
      entry.offset = offset;
      entries.set(record.id, entry);
    }
    for (const [id, text] of decoded.arguments) last.set(id, text);
    for (const each of decoded.drops) dropped.add(each);
  }
  const waiting = [...entries.values()].filter(
    ({ isTold, segment }) => !isTold && segment !== undefined && !dropped.has(segment.number),
  );
  for (const entry of waiting) {
    entry.segment?.entries.add(entry);
    entry.record.arguments = last.get(entry.record.id) ?? entry.record.arguments;
  }
  const isKept = ({ number, entries: untold, isUnreadable }: Segment): boolean =>
    untold.size > 0 || (isUnreadable && !dropped.has(number));
  return {
    entries: waiting,
    segments: segments.filter(isKept),
    settled: segments.filter((each) => !isKept(each)).map(({ number }) => number),
  };
}

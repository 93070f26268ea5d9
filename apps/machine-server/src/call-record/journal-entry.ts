/** A record in the journal, and the segment that holds it. */
import type { SegmentFile } from './journal-disk.ts';
import type { RecordedCalls } from './recorded-calls.ts';

/** States: open (may still grow) → closed → told (the cloud has it), or dropped at any time. */
export interface Entry {
  readonly record: RecordedCalls;
  isOpen: boolean;
  /** On its way to the cloud: its segment is not dropped. */
  isSending: boolean;
  isTold: boolean;
  isDropped: boolean;
  /** Segments that it counts as dropped. */
  drops: readonly number[];
  /** Undefined while its line waits for the disk. */
  segment: Segment | undefined;
  offset: number;
}

export interface Segment {
  readonly number: number;
  bytes: number;
  /** Those that the cloud does not have. */
  readonly entries: Set<Entry>;
  /** Undefined while it is not open for writing. */
  file: SegmentFile | undefined;
  isUnsynced: boolean;
  /** A write or sync has failed, so that its contents are unknown: what it holds goes into another one. */
  isBroken: boolean;
  /** Could not be read at the start; kept for the next one, unless the space is needed. */
  readonly isUnreadable: boolean;
}

export function entryOf(record: RecordedCalls, isOpen: boolean): Entry {
  return {
    ...{ record, isOpen, isSending: false, isTold: false, isDropped: false },
    ...{ drops: [], segment: undefined, offset: 0 },
  };
}

export function segmentOf(number: number, bytes: number, isUnreadable = false): Segment {
  return { number, bytes, entries: new Set(), file: undefined, isUnsynced: false, isBroken: false, isUnreadable };
}

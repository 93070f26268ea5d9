/**
 * The records of direct calls that the cloud does not have yet, so that they survive restarts, kills and weeks without the cloud. All of
 * them are in memory; the files (`journal-line.ts`, `journal-disk.ts`) are their copy.
 *
 * - A record is written when it begins; its count and the time of its last call are then written in place. `saved()` returns once that is
 *   done, so that a kill loses no call that has begun. Changes at the same time are written together.
 * - New records are synced within a second, and once more when they are closed, not for each call: a power cut loses at most the records of
 *   the last second (and of the time that a sync takes), and of records that were open what was counted since they began.
 * - The cloud's acknowledgement is written in place; a segment without unacknowledged records is removed.
 * - Beyond `maxBytes` the oldest segment is dropped. The record for which the space is needed says how many records that were, and names
 *   the segment, so that a kill in between neither counts them twice nor sends them after all.
 * - A segment of which a write or sync failed is abandoned: its records are written to a new one, and only then is it removed. A kill in
 *   between leaves them in both, under the same ids.
 *
 * States: written → failing (the reason is told once; every 5 s another attempt) → written. No call waits for a disk that fails, and none
 * longer than 100 ms for one that does not answer. At most `maxWaitingBytes` of records wait for the disk; more are not taken.
 */
import { type Clock, errorText, type Log } from '@platform/base';
import type { JournalDisk } from './journal-disk.ts';
import { type Entry, entryOf, type Segment, segmentOf } from './journal-entry.ts';
import { encodeArguments, encodeRecord, encodeSlot, padding, slotOffset } from './journal-line.ts';
import { readJournal } from './read-journal.ts';
import type { RecordedCalls } from './recorded-calls.ts';

export interface JournalOptions {
  readonly disk: JournalDisk;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when writing begins to fail, with the reason, and with undefined when it works again. */
  readonly onState: (problem: string | undefined) => void;
  /** Called for records that the journal has dropped. */
  readonly onDropped: (entries: readonly Entry[]) => void;
  /** Of all segments. Default 4 MiB. */
  readonly maxBytes?: number;
  /** Default 256 KiB. */
  readonly segmentBytes?: number;
  /** Default 1 MiB. */
  readonly maxWaitingBytes?: number;
}

/** A line that is not in a file yet. */
interface Line {
  readonly entry: Entry;
  readonly kind: 'record' | 'arguments';
  readonly bytes: number;
}

const maxWaitMs = 100;
const syncMs = 1_000;
const retryMs = 5_000;
/** How long a stop waits for a disk that does not answer. */
const lastWriteMs = 1_000;

export class Journal implements AsyncDisposable {
  readonly #options: JournalOptions;
  readonly #maxBytes: number;
  readonly #segmentBytes: number;
  readonly #maxWaitingBytes: number;
  /** Oldest first. */
  #segments: Segment[] = [];
  /** Gets new lines. */
  #current: Segment | undefined;
  #next = 1;
  #lines: Line[] = [];
  #waitingBytes = 0;
  /** What is in a file has changed. */
  readonly #changed = new Set<Entry>();
  /** Files whose records are elsewhere, or not needed any more. */
  readonly #removable = new Set<number>();
  #writing: Promise<void> = Promise.resolve();
  #following: Promise<void> | undefined;
  #syncing: Promise<void> = Promise.resolve();
  #isSlow = false;
  #problem: string | undefined;
  #syncTimer: Disposable | undefined;
  #retryTimer: Disposable | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? 4 * 1024 * 1024;
    this.#segmentBytes = options.segmentBytes ?? 256 * 1024;
    this.#maxWaitingBytes = options.maxWaitingBytes ?? 1024 * 1024;
  }

  /** The records of earlier runs, oldest first. Never throws. */
  async start(): Promise<readonly Entry[]> {
    const { disk, log, clock } = this.#options;
    try {
      const { entries, segments, settled } = await readJournal(disk, log);
      this.#segments = [...segments];
      for (const number of settled) this.#removable.add(number);
      this.#next = Math.max(0, ...settled, ...segments.map(({ number }) => number)) + 1;
      if (settled.length > 0) await this.#write();
      return entries;
    } catch (caught) {
      this.#failed(caught);
      // Above all numbers that may be there.
      this.#next = clock.now();
      return [];
    }
  }

  /** @returns undefined if the disk is so far behind that there is no space */
  add(record: RecordedCalls): Entry | undefined {
    const bytes = Buffer.byteLength(encodeRecord(record, []));
    if (this.#waitingBytes + bytes > this.#maxWaitingBytes) return undefined;
    const entry = entryOf(record, true);
    this.#queue({ entry, kind: 'record', bytes });
    return entry;
  }

  /** Count and time of the last call are others. */
  changed(entry: Entry): void {
    this.#changed.add(entry);
  }

  /** It does not grow any more. @param isArguments whether its arguments are others than at its beginning */
  closed(entry: Entry, isArguments: boolean): void {
    entry.isOpen = false;
    this.#syncSoon();
    if (isArguments && entry.segment !== undefined)
      this.#queue({ entry, kind: 'arguments', bytes: Buffer.byteLength(encodeArguments(entry.record)) });
    void this.#flush();
  }

  /** The cloud has them, or will never have them. */
  async told(entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      entry.isTold = true;
      entry.segment?.entries.delete(entry);
      this.#changed.add(entry);
    }
    await this.saved();
  }

  /** Returns once all changes are written; at once while the disk fails, and after 100 ms if it does not answer. */
  async saved(): Promise<void> {
    const flushed = this.#flush();
    if (this.#problem !== undefined || this.#isSlow) return;
    await this.#within(maxWaitMs, flushed, () => {
      this.#isSlow = true;
    });
  }

  /** Writes what it can; the rest is lost. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#syncTimer?.[Symbol.dispose]();
    this.#retryTimer?.[Symbol.dispose]();
    this.#retryTimer = undefined;
    const ended = this.#writing.then(async () => {
      await this.#write();
      this.#retryTimer?.[Symbol.dispose]();
      this.#syncTimer?.[Symbol.dispose]();
      await this.#sync();
      for (const { file } of this.#segments) await file?.close().catch(() => {});
    });
    await this.#within(lastWriteMs, ended, () => {});
  }

  #within(ms: number, done: Promise<void>, late: () => void): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(ms, () => {
        late();
        resolve();
      });
      void done.then(() => {
        timer[Symbol.dispose]();
        resolve();
      });
    });
  }

  #queue(line: Line): void {
    this.#lines.push(line);
    this.#waitingBytes += line.bytes;
  }

  /** After the flush in progress, which may have passed the newest change. */
  #flush(): Promise<void> {
    if (this.#problem !== undefined && this.#retryTimer !== undefined) return Promise.resolve();
    this.#following ??= this.#writing.then(() => {
      this.#following = undefined;
      this.#writing = this.#write();
      return this.#writing;
    });
    return this.#following;
  }

  async #write(): Promise<void> {
    try {
      for (const segment of this.#segments.filter(({ isBroken }) => isBroken)) this.#abandon(segment);
      while (this.#lines.length > 0) await this.#appendSome();
      await this.#writeChanged();
      await this.#removeSettled();
      await this.#closeFull();
      if (this.#problem !== undefined) this.#options.onState(undefined);
      this.#problem = undefined;
    } catch (caught) {
      this.#failed(caught);
    }
    this.#isSlow = false;
  }

  /** Adds lines to one segment, as many as fit. */
  async #appendSome(): Promise<void> {
    const segment = this.#current ?? (await this.#begin());
    const placed: { readonly entry: Entry; readonly offset: number }[] = [];
    let text = '';
    let end = segment.bytes;
    let taken = 0;
    for (const { entry, kind, bytes } of this.#lines) {
      const offset = slotOffset(end);
      if (kind === 'record' && end > 0 && offset + bytes > this.#segmentBytes) break;
      taken++;
      // By now the cloud may have it.
      if (entry.isTold || entry.isDropped) continue;
      if (kind === 'record') this.#makeRoom(entry, offset + bytes - segment.bytes);
      this.#changed.delete(entry);
      const encoded = kind === 'record' ? encodeRecord(entry.record, entry.drops) : encodeArguments(entry.record);
      text += padding(offset - end) + encoded;
      end = offset + Buffer.byteLength(encoded);
      if (kind === 'record') placed.push({ entry, offset });
    }
    if (taken === 0) this.#current = undefined;
    if (text !== '') await this.#put(segment, text, segment.bytes);
    segment.bytes = end;
    for (const { entry, offset } of placed) {
      Object.assign(entry, { segment, offset });
      if (!entry.isTold && !entry.isDropped) segment.entries.add(entry);
    }
    for (const { bytes } of this.#lines.splice(0, taken)) this.#waitingBytes -= bytes;
    if (text !== '') this.#syncSoon();
  }

  async #begin(): Promise<Segment> {
    const segment = segmentOf(this.#next++, 0);
    // If a write fails later, the file is removed with the segment; one that could not be made is not this server's.
    segment.file = await this.#options.disk.open(segment.number, true);
    this.#segments.push(segment);
    this.#current = segment;
    return segment;
  }

  /** Drops the oldest segments if there is no space for a record that needs `bytes`. Their files go once it is written. */
  #makeRoom(entry: Entry, bytes: number): void {
    const total = (): number => this.#segments.reduce((sum, each) => sum + each.bytes, bytes);
    while (total() > this.#maxBytes) {
      const oldest = this.#segments.find(
        (each) => each !== this.#current && each.entries.values().every(({ isSending }) => !isSending),
      );
      if (oldest === undefined) return;
      const entries = [...oldest.entries];
      for (const each of entries) {
        each.isDropped = true;
        entry.record.dropped += 1 + each.record.dropped;
      }
      entry.drops = [...entry.drops, oldest.number];
      this.#discard(oldest);
      this.#options.onDropped(entries);
    }
  }

  async #writeChanged(): Promise<void> {
    const changed = [...this.#changed];
    this.#changed.clear();
    try {
      for (const { segment, offset, record, isTold, isDropped } of changed) {
        // A segment without records is removed as a whole.
        if (segment === undefined || isDropped || segment.entries.size === 0) continue;
        await this.#put(segment, encodeSlot(record, isTold ? 'told' : 'open'), offset);
      }
    } catch (caught) {
      for (const entry of changed) this.#changed.add(entry);
      throw caught;
    }
  }

  /** Removes files whose records are elsewhere, in the cloud, or counted as dropped. */
  async #removeSettled(): Promise<void> {
    for (const segment of this.#segments.filter(({ entries, isUnreadable }) => entries.size === 0 && !isUnreadable))
      this.#discard(segment);
    for (const number of this.#removable) {
      await this.#options.disk.remove(number);
      this.#removable.delete(number);
    }
  }

  async #closeFull(): Promise<void> {
    for (const segment of this.#segments) {
      const { file } = segment;
      if (file === undefined || segment === this.#current || segment.entries.values().some(({ isOpen }) => isOpen))
        continue;
      await this.#syncOne(segment);
      segment.file = undefined;
      await file.close();
    }
  }

  /** Its records are written to another segment. */
  #abandon(segment: Segment): void {
    const lines = [...segment.entries].map((entry): Line => {
      entry.segment = undefined;
      return { entry, kind: 'record', bytes: Buffer.byteLength(encodeRecord(entry.record, entry.drops)) };
    });
    this.#lines.unshift(...lines);
    for (const { bytes } of lines) this.#waitingBytes += bytes;
    this.#discard(segment);
  }

  #discard(segment: Segment): void {
    this.#segments = this.#segments.filter((each) => each !== segment);
    segment.entries.clear();
    if (segment === this.#current) this.#current = undefined;
    this.#removable.add(segment.number);
    segment.file?.close().catch(() => {});
    segment.file = undefined;
  }

  async #put(segment: Segment, text: string, position: number): Promise<void> {
    try {
      segment.file ??= await this.#options.disk.open(segment.number, false);
      await segment.file.write(Buffer.from(text), position);
    } catch (caught) {
      segment.isBroken = true;
      throw caught;
    }
    // Afterwards: a sync in progress may not cover it.
    segment.isUnsynced = true;
  }

  #syncSoon(): void {
    this.#syncTimer ??= this.#options.clock.after(syncMs, () => {
      this.#syncTimer = undefined;
      void this.#sync();
    });
  }

  /** At the same time as writes, because it may take long. One at a time. */
  #sync(): Promise<void> {
    this.#syncing = this.#syncing.then(async () => {
      for (const segment of this.#segments)
        await this.#syncOne(segment).catch((caught: unknown) => this.#failed(caught));
    });
    return this.#syncing;
  }

  async #syncOne(segment: Segment): Promise<void> {
    const { file, isUnsynced } = segment;
    if (file === undefined || !isUnsynced) return;
    segment.isUnsynced = false;
    try {
      await file.sync();
    } catch (caught) {
      // Closed meanwhile: its records are elsewhere, or it was synced before.
      if (segment.file !== file) return;
      segment.isBroken = true;
      throw caught;
    }
  }

  #failed(caught: unknown): void {
    if (this.#problem === undefined) this.#options.onState(errorText(caught));
    this.#problem = errorText(caught);
    this.#retryTimer ??= this.#options.clock.after(retryMs, () => {
      this.#retryTimer = undefined;
      void this.#flush();
    });
  }
}

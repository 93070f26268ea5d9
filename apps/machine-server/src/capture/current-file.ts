/**
 * The file of one series into which readings go now, if there is one: opened for a reading, filled until it is complete, and then detached,
 * so that the next reading opens another.
 */
import { recordBytes } from '@platform/capture-file';
import { openCaptureFile } from './open-capture-file.ts';
import type { ReadingQueue } from './reading-queue.ts';
import type { RollContext } from './roll-context.ts';
import type { BinaryFile, Series } from './series.ts';
import { SeriesFile } from './series-file.ts';

export interface CurrentFileEvents {
  /** A step of a file failed, also of one that was detached. */
  readonly failed: (file: SeriesFile, caught: unknown, failures: number) => void;
  /** A file was synced or sealed, also one that was detached. */
  readonly stepped: (file: SeriesFile) => void;
  /** What the file has in memory has changed. */
  readonly changed: () => void;
}

/** A buffer that becomes full this shortly before a write-out waits for it. */
const soonMs = 100;
/** Unsynced bytes at which a sync starts. */
const syncBytes = 262_144;

export class CurrentFile {
  /** It takes no more readings. */
  isComplete = false;
  readonly #series: Series;
  readonly #context: RollContext;
  readonly #events: CurrentFileEvents;
  #file: SeriesFile | undefined;
  #opening: { seq: number } | undefined;

  constructor(series: Series, context: RollContext, events: CurrentFileEvents) {
    this.#series = series;
    this.#context = context;
    this.#events = events;
  }

  get file(): SeriesFile | undefined {
    return this.#file;
  }

  /** Whether a file is open, and has room for a reading. */
  fits(reading: Uint8Array): boolean {
    if (this.#file === undefined) return false;
    const { readings, sizeBytes } = this.#file.writer;
    return readings === 0 || sizeBytes + recordBytes(reading.length) <= this.#series.maxFileBytes;
  }

  /** Adds a reading, which fits, to the user buffer. Returns whether the buffer must be written now. */
  append(reading: Uint8Array, us: number): boolean {
    const file = this.#file;
    if (file === undefined) return false;
    file.unwrittenUs ??= us;
    return file.writer.append(reading) && !this.#isWrittenSoon(file);
  }

  /** @param own file type of a binary reading, which gets its own file */
  async open(own: BinaryFile | undefined): Promise<void> {
    const { ledger, wallMicros, clock, log } = this.#context;
    // Kept across failed attempts, so that a full disk does not use up numbers that would hold back the low-water mark (I6).
    this.#opening ??= { seq: ledger.take() };
    const openedUs = wallMicros();
    const writer = await openCaptureFile(this.#series, this.#context, { ...this.#opening, openedUs, own });
    this.#opening = undefined;
    const file: SeriesFile = new SeriesFile(writer, {
      ...{ openedUs, clock },
      failed: (caught, failures) => this.#events.failed(file, caught, failures),
      recovered: (failures) => log.info('a capture file can be written again', { path: writer.path, failures }),
      done: () => this.#events.stepped(file),
    });
    this.#file = file;
  }

  /** Moves the queued readings that fit into the file: one group, for one write. */
  fill(queue: ReadingQueue): void {
    const file = this.#file;
    if (file === undefined) return;
    for (let next = queue.first; next !== undefined && !this.isComplete; next = queue.first) {
      if (!this.fits(next.bytes) || (next.own !== undefined && file.writer.readings > 0)) {
        this.isComplete = true;
        return;
      }
      queue.take();
      file.unwrittenUs ??= next.us;
      file.writer.append(next.bytes);
      if (next.own !== undefined) this.isComplete = true;
    }
  }

  /** Writes the user buffer. */
  async flush(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    const startedUs = this.#context.wallMicros();
    try {
      await file.writer.flush();
    } catch (caught) {
      // Unless the disk is full, a new file may succeed.
      this.isComplete ||= file.writer.isSuspect;
      throw caught;
    }
    if (!file.writer.isSuspect) file.unwrittenUs = file.writer.unwritten > 0 ? startedUs : undefined;
    this.#events.changed();
    if (!(this.isComplete || file.isBusy) && file.writer.unsyncedBytes >= syncBytes) void file.sync();
  }

  detach(): void {
    this.#file = undefined;
    this.isComplete = false;
  }

  /** Whether a full buffer waits for the next write-out. Otherwise that would write again, for one or two readings. */
  #isWrittenSoon({ writer }: SeriesFile): boolean {
    const leftMs = this.#context.nextWriteOutMs() - this.#context.clock.monotonic();
    return leftMs >= 0 && leftMs <= soonMs && writer.bufferedBytes < 2 * this.#series.bufferBytes;
  }
}

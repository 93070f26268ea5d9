/**
 * The files of one series: opens a file when a reading arrives, rolls it at its maximum size, seals it on demand. Each binary reading gets
 * its own file, with its own extension and MIME type.
 *
 * States of a reading: queued → in the user buffer → written → synced → sealed. One loop opens files and writes (up to "written"); each file
 * syncs and seals itself (`SeriesFile`). Readings that arrive during a sync are therefore written, and the next file is opened before a full
 * one is sealed: a kill costs only the readings that are queued or in the user buffer. Queued readings are written as one group.
 *
 * A disk error loses nothing. A file that fails takes no more readings and repeats its own steps, while the series goes on with a new one;
 * on a full disk, which a new file does not help, the write is repeated. Readings wait in memory (`CaptureMemory`) if nothing can be written,
 * and while four files of the series are not sealed yet. Only then, and if that memory is full, are readings skipped.
 */
import { errorText } from '@platform/base';
import { CurrentFile } from './current-file.ts';
import { DiskStep } from './disk-step.ts';
import { ReadingQueue } from './reading-queue.ts';
import type { RollContext } from './roll-context.ts';
import type { BinaryFile, Series } from './series.ts';
import type { SeriesFile } from './series-file.ts';
import { UnsealedFiles } from './unsealed-files.ts';

/** Turns after which a write-out stops waiting: readings that arrive during a write are written in the next turn. */
const mostTurns = 10;

export class RollFile {
  readonly #series: Series;
  readonly #context: RollContext;
  readonly #queue = new ReadingQueue();
  readonly #unsealed: UnsealedFiles;
  readonly #current: CurrentFile;
  readonly #writes: DiskStep;
  #sealAsked = false;
  /** Queued readings wait for a file to be sealed. */
  #isBlocked = false;
  #closing = false;

  constructor(series: Series, context: RollContext) {
    this.#series = series;
    this.#context = context;
    const { clock, log, lost } = context;
    this.#current = new CurrentFile(series, context, {
      failed: (file, caught, failures) => this.#fileFailed(file, caught, failures),
      stepped: (file) => this.#stepped(file),
      changed: () => this.#account(),
    });
    this.#writes = new DiskStep({
      ...{ step: () => this.#drain(), clock },
      failed: (caught, failures) => {
        this.#sealAsked = false;
        this.#failed(caught, failures);
      },
      recovered: (failures) => log.info('readings can be written to the disk again', { failures }),
      hasMore: () => !this.#isBlocked && (this.#queue.length > 0 || this.#sealAsked || this.#current.isComplete),
    });
    this.#unsealed = new UnsealedFiles({ lost, log, fewer: () => this.#unblock() });
  }

  /** Consecutive failures of the disk; 0 when it works. */
  get failures(): number {
    return Math.max(this.#writes.failures, this.#current.file?.failures ?? 0, this.#unsealed.failures);
  }

  /** Whether readings wait in memory on purpose: the disk fails, or has not sealed earlier files yet. */
  get isBehind(): boolean {
    return this.#isBlocked || this.failures > 0;
  }

  /** Readings that are only in memory. */
  get queued(): number {
    return this.#queue.length + this.#files.reduce((sum, { writer }) => sum + writer.unwritten, 0);
  }

  /** Wall-clock time before which every reading was handed to the operating system; undefined if all were. */
  get unwrittenUs(): number | undefined {
    const times = [this.#queue.first?.us, ...this.#files.map(({ unwrittenUs }) => unwrittenUs)];
    const known = times.filter((us) => us !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  }

  /** Whether a reading can be accepted now; false while its memory, or the configured queue, is full. */
  get ready(): boolean {
    const { queueSize } = this.#series;
    return (queueSize === undefined || this.#waiting < Math.max(1, queueSize)) && this.#context.memory.hasRoom;
  }

  /**
   * Queues an encoded SensorData. Returns false, without keeping it, if the file is closing: a file opened now would never be sealed.
   *
   * @param own file type of a binary reading, which gets its own file
   */
  add(bytes: Uint8Array, own?: BinaryFile): boolean {
    if (this.#closing) return false;
    const us = this.#context.wallMicros();
    // The common case needs no promise: the reading goes directly to the user buffer of the open file.
    if (own === undefined && this.#queue.length === 0 && this.#idle && this.#current.fits(bytes)) {
      if (this.#current.append(bytes, us)) void this.#writes.run();
    } else {
      this.#queue.add({ bytes, own, us });
      if (!this.#writes.isWaiting && !this.#isBlocked) void this.#writes.run();
    }
    this.#account();
    return true;
  }

  /** Hands everything captured so far to the operating system. Returns whether that is done: false if the disk fails or is far behind. */
  async write(): Promise<boolean> {
    for (let turn = 0; this.#writes.running !== undefined && turn < mostTurns; turn++) await this.#writes.running;
    if (this.#writes.running !== undefined || this.#writes.isWaiting) return false;
    if (this.#queue.length > 0 || (this.#current.file?.writer.unwritten ?? 0) > 0) await this.#writes.run();
    return !this.#isBlocked && this.failures === 0;
  }

  /** Syncs everything written so far. Returns whether that is done: false after one failure of the disk. */
  async sync(): Promise<boolean> {
    if (this.failures > 0) return false;
    const file = this.#current.file;
    const open = file === undefined || file.writer.unsyncedBytes === 0 ? file?.settled() : file.sync();
    return !(await Promise.all([open, this.#unsealed.settled()])).includes(false);
  }

  /** Seals the open file with everything queued so far; resolves when it is sealed, or after one failure of the disk. */
  async seal(): Promise<void> {
    // A disk that is behind would only get further behind with more and smaller files.
    this.#sealAsked ||= this.#closing || this.#unsealed.size < 2;
    do {
      await this.#writes.run();
      if (!(await this.#unsealed.settled())) return;
    } while ((this.#sealAsked || this.#current.isComplete) && this.#writes.failures === 0);
  }

  /**
   * Accepts no more readings, drains the queue and seals the file. If that is not done within `graceMs`, because the disk fails or is slow,
   * it goes on until `giveUp`.
   */
  async close(graceMs: number): Promise<void> {
    const { clock } = this.#context;
    const deadline = clock.monotonic() + graceMs;
    this.#closing = true;
    for (;;) {
      const leftMs = deadline - clock.monotonic();
      if (this.isEmpty || leftMs <= 0) return;
      await Promise.race([this.seal(), clock.sleep(leftMs)]);
      if (!this.isEmpty) await clock.sleep(Math.min(50, leftMs));
    }
  }

  /** Ends all steps, and tells how many readings are lost by that. */
  giveUp(): void {
    const { memory, log, lost, wallMicros } = this.#context;
    this.#writes.end();
    const files = this.#files.filter((file) => file.giveUp() > 0);
    const readings = files.reduce((sum, { writer }) => sum + writer.endangered, this.#queue.length);
    memory[Symbol.dispose]();
    if (readings === 0) return;
    log.error('stopped with readings that could not be written to the disk', { readings });
    const sinceUs = Math.min(this.#queue.first?.us ?? wallMicros(), ...files.map(({ openedUs }) => openedUs));
    lost(readings, sinceUs);
  }

  /** Whether everything captured is sealed. */
  get isEmpty(): boolean {
    return this.#current.file === undefined && this.#queue.length + this.#unsealed.size === 0;
  }

  /** After a failed write, those that were moved to the file wait as well. */
  get #waiting(): number {
    return this.#queue.length + (this.#writes.failures > 0 ? (this.#current.file?.writer.unwritten ?? 0) : 0);
  }

  get #files(): readonly SeriesFile[] {
    return this.#current.file === undefined ? this.#unsealed.files : [...this.#unsealed.files, this.#current.file];
  }

  get #idle(): boolean {
    return this.#writes.running === undefined && this.#writes.failures === 0 && !this.#current.isComplete;
  }

  #account(): void {
    this.#context.memory.bytes =
      this.#queue.bytes + (this.#current.file?.writer.unsyncedBytes ?? 0) + this.#unsealed.bytes;
  }

  #failed(caught: unknown, failures: number): void {
    this.#context.log.error('writing captured readings failed; they are kept and the write is repeated', {
      directory: this.#series.directory,
      error: errorText(caught),
      queued: this.#queue.length,
      failures,
    });
  }

  /** The open file failed: it takes no more readings, and repeats its steps while the series goes on with another. */
  #fileFailed(file: SeriesFile, caught: unknown, failures: number): void {
    this.#failed(caught, failures);
    if (file === this.#current.file) {
      this.#current.isComplete = true;
      this.#unblock();
    } else this.#unsealed.failed(file);
  }

  #unblock(): void {
    this.#account();
    const isNeeded = this.#isBlocked || this.#current.isComplete;
    this.#isBlocked = false;
    if (isNeeded && !this.#writes.isWaiting) void this.#writes.run();
  }

  async #drain(): Promise<void> {
    this.#isBlocked = false;
    for (;;) {
      if (this.#current.isComplete && !(await this.#detach())) return;
      const next = this.#queue.first;
      if (next === undefined) {
        const isLast = this.#sealAsked || this.#closing;
        this.#sealAsked = false;
        if (!isLast || this.#current.file === undefined) break;
        this.#current.isComplete = true;
        continue;
      }
      if (this.#current.file === undefined) await this.#current.open(next.own);
      this.#current.fill(this.#queue);
      await this.#current.flush();
    }
    await this.#current.flush();
  }

  /** Hands the open file over for sealing; the next reading opens another. Returns false if too many are already waiting. */
  async #detach(): Promise<boolean> {
    const { file } = this.#current;
    if (file !== undefined) {
      if (!file.writer.isSuspect) await this.#current.flush();
      if (this.#unsealed.isFull && !this.#closing) {
        this.#isBlocked = true;
        return false;
      }
      this.#unsealed.add(file);
    }
    this.#current.detach();
    return true;
  }

  #stepped(file: SeriesFile): void {
    if (file.writer.unwritten === 0) file.unwrittenUs = undefined;
    if (file.isSealed) {
      const { log, wallMicros } = this.#context;
      const { path, readings } = file.writer;
      log.debug('a capture file is sealed', {
        file: path,
        readings,
        durationMs: (wallMicros() - file.openedUs) / 1_000,
      });
      this.#unsealed.sealed(file);
    }
    this.#account();
  }
}

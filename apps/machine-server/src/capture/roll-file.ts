/**
 * The files of one series: opens a file when a reading arrives, rolls it at its maximum size, seals it on demand. Each binary reading gets
 * its own file, with its own extension and MIME type.
 *
 * States of a reading: queued → in the user buffer → written → synced → sealed. Two loops advance it: one opens files and writes (up to
 * "written"), the other syncs and seals (`SyncQueue`). Readings that arrive during a sync are therefore written, and the next file is
 * opened before a full one is sealed: a kill costs only the readings that are queued or in the user buffer.
 *
 * A disk error changes no state: the reading stays where it is, and the loop waits (with growing delays, at most 30 s) and repeats the same
 * step. While syncs fail, nothing is written either. A disk error therefore never ends a capture; readings are skipped only while the queue
 * is full.
 */
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, errorText, type Log } from '@platform/base';
import {
  type CaptureFileWriter,
  type CaptureStorage,
  createCaptureFileWriter,
  recordBytes,
} from '@platform/capture-file';
import type { DataCaptureMetadata } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { fileName, seriesPath } from '../directories/paths.ts';
import type { SeqLedger } from '../directories/seq-ledger.ts';
import { DiskStep } from './disk-step.ts';
import type { Series } from './series.ts';
import { SyncQueue } from './sync-queue.ts';

export interface RollContext {
  readonly storage: CaptureStorage;
  readonly ledger: SeqLedger;
  readonly partId: string;
  readonly wallMicros: () => number;
  /** When `write` will be called next, on the monotonic clock; in the past if that is unknown. */
  readonly nextWriteOutMs: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Turns after which a write-out stops waiting: readings that arrive during a write are written in the next turn. */
const mostTurns = 10;
/** A buffer that becomes full this shortly before a write-out waits for it. */
const soonMs = 100;
/** Unsynced bytes at which a sync starts; at four times as many, writing waits for the sync. */
const syncBytes = 262_144;
const mostUnsyncedBytes = 4 * syncBytes;
/** Maximum number of full files that wait to be sealed; another one stays open until one of them is sealed. */
const mostSealing = 4;
/** Memory limit for readings that wait for the disk, exceeded by at most one: images are larger than `capture_queue_size` assumes. */
const mostQueuedBytes = 64 * 1024 * 1024;

interface Entry {
  readonly bytes: Uint8Array;
  /** Undefined: it shares a file with others. */
  readonly own: BinaryFile | undefined;
}

/** File type in the metadata of a binary reading's file. */
export type BinaryFile = Pick<DataCaptureMetadata, 'fileExtension' | 'mimeType'>;

export class RollFile {
  readonly #series: Series;
  readonly #context: RollContext;
  readonly #queue: Entry[] = [];
  #queuedBytes = 0;
  #writer: CaptureFileWriter | undefined;
  #opening: { seq: number } | undefined;
  readonly #writes: DiskStep;
  readonly #syncs: SyncQueue;
  #sealAsked = false;
  /** The open file takes no more readings. */
  #isComplete = false;
  /** Queued readings wait for a sync or a seal. */
  #isBlocked = false;
  #unwrittenUs: number | undefined;
  #closing = false;

  constructor(series: Series, context: RollContext) {
    this.#series = series;
    this.#context = context;
    const { clock } = context;
    const failed = (caught: unknown, failures: number): void => this.#failed(caught, failures);
    const recovered = (failures: number): void =>
      context.log.info('readings can be written to the disk again', { failures });
    this.#writes = new DiskStep({
      ...{ step: () => this.#drain(), failed, recovered, clock },
      hasMore: () => !this.#isBlocked && (this.#queue.length > 0 || this.#sealAsked),
    });
    this.#syncs = new SyncQueue({
      ...{ failed, clock, done: () => this.#unblock() },
      recovered: (failures) => {
        this.#isBlocked = true;
        this.#unblock();
        recovered(failures);
      },
    });
  }

  /** Consecutive failures of the disk; 0 when it works. */
  get failures(): number {
    return Math.max(this.#writes.failures, this.#syncs.failures);
  }

  /** Readings that are only in memory. */
  get queued(): number {
    return this.#queue.length + (this.#writer?.unwritten ?? 0);
  }

  /** Wall-clock time before which every reading was handed to the operating system; undefined if all were. */
  get unwrittenUs(): number | undefined {
    return this.#unwrittenUs;
  }

  /** Whether a reading can be accepted now; false while the queue is full. */
  get ready(): boolean {
    return this.#queue.length < Math.max(1, this.#series.queueSize) && this.#queuedBytes < mostQueuedBytes;
  }

  /**
   * Queues an encoded SensorData. Returns false, without keeping it, if the file is closing: a file opened now would never be sealed.
   *
   * @param own file type of a binary reading, which gets its own file
   */
  add(bytes: Uint8Array, own?: BinaryFile): boolean {
    if (this.#closing) return false;
    this.#unwrittenUs ??= this.#context.wallMicros();
    const writer = this.#writer;
    // The common case needs no promise: the reading goes directly to the user buffer of the open file.
    if (own === undefined && writer !== undefined && this.#queue.length === 0 && this.#idle) {
      if (this.#fits(writer, bytes)) {
        if (writer.append(bytes) && !this.#isWrittenSoon(writer)) void this.#writes.run();
        return true;
      }
    }
    this.#queue.push({ bytes, own });
    this.#queuedBytes += bytes.length;
    if (!this.#writes.isWaiting) void this.#writes.run();
    return true;
  }

  get #idle(): boolean {
    return this.#writes.running === undefined && this.failures === 0 && !this.#isComplete;
  }

  /** Hands everything captured so far to the operating system. Returns whether that is done: false if the disk fails or is far behind. */
  async write(): Promise<boolean> {
    for (let turn = 0; this.#writes.running !== undefined && turn < mostTurns; turn++) await this.#writes.running;
    if (this.#writes.running !== undefined || this.failures > 0) return false;
    if (this.queued === 0) return true;
    await this.#writes.run();
    return !this.#isBlocked && this.failures === 0;
  }

  /** Syncs everything written so far. Returns whether that is done: false after one failure of the disk. */
  async sync(): Promise<boolean> {
    if (this.failures > 0) return false;
    return this.#writer === undefined || this.#writer.unsyncedBytes === 0
      ? this.#syncs.settled()
      : this.#syncs.sync(this.#writer);
  }

  /** Seals the open file with everything queued so far; resolves when it is sealed, or after one failure of the disk. */
  async seal(): Promise<void> {
    this.#sealAsked = true;
    do {
      await this.#writes.run();
      if (!(await this.#syncs.settled())) return;
    } while (this.#sealAsked || (this.#isComplete && this.#writes.failures === 0));
  }

  /**
   * Accepts no more readings, drains the queue and seals the file; retries for at most `graceMs` if the disk fails.
   *
   * @returns how many readings could not be written
   */
  async close(graceMs: number): Promise<number> {
    const deadline = this.#context.clock.monotonic() + graceMs;
    this.#closing = true;
    this.#writes.end();
    this.#syncs.end();
    for (;;) {
      await this.seal();
      if (this.#writer === undefined && this.#queue.length + this.#syncs.sealing === 0) return 0;
      if (this.#context.clock.monotonic() >= deadline) break;
      await this.#context.clock.sleep(50);
    }
    const readings = this.queued;
    this.#context.log.error('stopped with readings that could not be written to the disk', { readings });
    await Promise.all([this.#writer?.abandon().catch(() => {}), this.#syncs.abandon()]);
    return readings;
  }

  /** Whether a full buffer waits for the next write-out. Otherwise that would write again, for one or two readings. */
  #isWrittenSoon(writer: CaptureFileWriter): boolean {
    const leftMs = this.#context.nextWriteOutMs() - this.#context.clock.monotonic();
    return leftMs >= 0 && leftMs <= soonMs && writer.bufferedBytes < 2 * this.#series.bufferBytes;
  }

  #fits(writer: CaptureFileWriter, reading: Uint8Array): boolean {
    return writer.readings === 0 || writer.sizeBytes + recordBytes(reading.length) <= this.#series.maxFileBytes;
  }

  #failed(caught: unknown, failures: number): void {
    this.#sealAsked = false;
    this.#context.log.error('writing captured readings failed; they are kept and the write is repeated', {
      directory: this.#series.directory,
      error: errorText(caught),
      queued: this.#queue.length,
      failures,
    });
  }

  #unblock(): void {
    if (this.#isBlocked && !this.#writes.isWaiting) void this.#writes.run();
  }

  async #drain(): Promise<void> {
    this.#isBlocked = false;
    while (this.#queue.length > 0 || this.#sealAsked || this.#isComplete) {
      if (this.#syncs.failures > 0) {
        this.#isBlocked = true;
        return;
      }
      if (this.#isComplete) {
        if (!(await this.#detach())) return;
        continue;
      }
      const reading = this.#queue[0];
      if (reading === undefined) {
        this.#sealAsked = false;
        this.#isComplete = this.#writer !== undefined;
        continue;
      }
      const { bytes, own } = reading;
      const writer = this.#writer ?? (await this.#open(own));
      if (!this.#fits(writer, bytes)) {
        this.#isComplete = true;
        continue;
      }
      this.#queue.shift();
      this.#queuedBytes -= bytes.length;
      const isFull = writer.append(bytes);
      if (own !== undefined) this.#isComplete = true;
      else if (isFull) await this.#flush(writer);
    }
    if (this.#writer !== undefined) await this.#flush(this.#writer);
  }

  async #flush(writer: CaptureFileWriter): Promise<void> {
    const [startedUs, isWhole] = [this.#context.wallMicros(), this.#queue.length === 0];
    await writer.flush();
    if (isWhole && writer.unwritten === 0) this.#unwrittenUs = this.#queue.length > 0 ? startedUs : undefined;
    if (this.#isComplete || writer.unsyncedBytes < syncBytes) return;
    const synced = this.#syncs.sync(writer);
    if (writer.unsyncedBytes >= mostUnsyncedBytes) await synced;
  }

  /** Hands the open file over for sealing; the next reading opens another. Returns false if too many are already waiting. */
  async #detach(): Promise<boolean> {
    const writer = this.#writer;
    if (writer !== undefined) {
      await this.#flush(writer);
      if (this.#syncs.sealing >= mostSealing) {
        this.#isBlocked = true;
        return false;
      }
      this.#syncs.seal(writer);
    }
    this.#writer = undefined;
    this.#isComplete = false;
    return true;
  }

  async #open(own: BinaryFile | undefined): Promise<CaptureFileWriter> {
    const { ledger, wallMicros, partId, storage } = this.#context;
    const metadata = { ...this.#series.metadata, ...own };
    // Kept across failed attempts, so that a full disk does not use up numbers that would hold back the low-water mark (I6).
    this.#opening ??= { seq: ledger.take() };
    const { seq } = this.#opening;
    const micros = wallMicros();
    const { componentType, componentName, methodName } = metadata;
    const path = join(
      this.#series.directory,
      seriesPath(componentType, componentName, methodName),
      fileName(micros, ledger.stream, seq),
    );
    const header = create(CaptureFileHeaderSchema, {
      stream: ledger.stream,
      seq: BigInt(seq),
      partId,
      metadata,
      created: timestampFromMs(Math.floor(micros / 1_000)),
    });
    const writer = await createCaptureFileWriter({ storage, path, header, bufferBytes: this.#series.bufferBytes });
    this.#opening = undefined;
    this.#writer = writer;
    return writer;
  }
}

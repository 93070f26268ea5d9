/**
 * The files of one series: opens a file when a reading arrives, rolls it at its maximum size, seals it on demand. Each binary reading gets
 * a file of its own, with its own extension and MIME type.
 *
 * States of a reading: queued → in the user buffer → written → synced → sealed. A disk error changes no state: the reading stays where it
 * is, and the loop waits (with growing delays, at most 30 s) and repeats the same step. A disk error therefore never ends a capture;
 * readings are only skipped while the queue is full.
 */
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { backoffMs, type Clock, errorText, type Log } from '@platform/base';
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
import type { Series } from './series.ts';

export interface RollContext {
  readonly storage: CaptureStorage;
  readonly ledger: SeqLedger;
  readonly partId: string;
  readonly wallMicros: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

const syncEveryMs = 1_000;
/** Readings that arrive while others are written are written next; a tick does not wait for the end of that. */
const mostTurns = 10;
/** Readings that wait for the disk take no more memory than this, and one reading: images are larger than what `capture_queue_size` is made for. */
const mostQueuedBytes = 64 * 1024 * 1024;

interface Entry {
  readonly bytes: Uint8Array;
  /** Absent: it shares a file with others. */
  readonly own: BinaryFile | undefined;
}

/** What the metadata of a binary reading's file says of it. */
export type BinaryFile = Pick<DataCaptureMetadata, 'fileExtension' | 'mimeType'>;

export class RollFile {
  readonly #series: Series;
  readonly #context: RollContext;
  readonly #queue: Entry[] = [];
  #queuedBytes = 0;
  #writer: CaptureFileWriter | undefined;
  #opening: { seq: number } | undefined;
  #pumping: Promise<void> | undefined;
  #sealAsked = false;
  #sealing = false;
  #dirtySince: number | undefined;
  #unwrittenUs: number | undefined;
  #failures = 0;
  /** Cuts short the wait after a failure. */
  #retry: AbortController | undefined;
  #closing = false;

  constructor(series: Series, context: RollContext) {
    this.#series = series;
    this.#context = context;
  }

  /** Consecutive failures of the disk; 0 when it works. */
  get failures(): number {
    return this.#failures;
  }

  /** Every reading from before (wall clock) was handed to the operating system; undefined: all were. */
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
   * @param own of a binary reading, which gets a file of its own
   */
  add(bytes: Uint8Array, own?: BinaryFile): boolean {
    if (this.#closing) return false;
    this.#unwrittenUs ??= this.#context.wallMicros();
    const writer = this.#writer;
    // The common case needs no promise: the reading goes directly to the user buffer of the open file.
    if (own === undefined && writer !== undefined && this.#queue.length === 0 && this.#idle) {
      if (this.#fits(writer, bytes)) {
        this.#dirtySince ??= this.#context.clock.monotonic();
        if (!writer.append(bytes)) return true;
        this.#pump();
        return true;
      }
    }
    this.#queue.push({ bytes, own });
    this.#queuedBytes += bytes.length;
    if (this.#retry === undefined) this.#pump();
    return true;
  }

  get #idle(): boolean {
    return this.#pumping === undefined && this.#failures === 0 && !this.#sealing;
  }

  /**
   * Writes and syncs everything captured so far. Called every 800 ms; returns whether that is done: false after one failure of the disk, or
   * if it is busy with later readings.
   */
  async tick(): Promise<boolean> {
    for (let turn = 0; this.#pumping !== undefined && turn < mostTurns; turn++) await this.#pumping;
    if (!this.#idle) return false;
    if (this.#dirtySince === undefined) return this.#queue.length === 0;
    this.#pump(true);
    await this.#pumping;
    return this.#failures === 0;
  }

  /** Seals the open file with everything queued so far; resolves when it is sealed, or after one failure of the disk. */
  async seal(): Promise<void> {
    this.#sealAsked = true;
    this.#pump();
    await this.#pumping;
  }

  /**
   * Accepts no more readings, drains the queue and seals the file; retries for at most `graceMs` if the disk fails.
   *
   * @returns how many readings could not be written
   */
  async close(graceMs: number): Promise<number> {
    const deadline = this.#context.clock.monotonic() + graceMs;
    this.#closing = true;
    for (;;) {
      await this.seal();
      if (this.#writer === undefined && this.#queue.length === 0) return 0;
      if (this.#context.clock.monotonic() >= deadline) break;
      await this.#context.clock.sleep(50);
    }
    const readings = this.#queue.length + (this.#writer?.unwritten ?? 0);
    this.#context.log.error('stopped with readings that could not be written to the disk', { readings });
    await this.#writer?.abandon().catch(() => {});
    return readings;
  }

  #fits(writer: CaptureFileWriter, reading: Uint8Array): boolean {
    return writer.readings === 0 || writer.sizeBytes + recordBytes(reading.length) <= this.#series.maxFileBytes;
  }

  #pump(sync = false): void {
    if (this.#pumping !== undefined) return;
    this.#retry?.abort();
    this.#retry = undefined;
    this.#pumping = this.#run(sync).finally(() => {
      this.#pumping = undefined;
      if (this.#failures > 0) this.#tryLater();
      else if (this.#queue.length > 0 || this.#sealAsked) this.#pump();
    });
  }

  /** One attempt; a failure leaves everything as it was. */
  async #run(sync: boolean): Promise<void> {
    try {
      await this.#drain();
      if (sync || this.#due()) await this.#sync();
      if (this.#failures > 0)
        this.#context.log.info('readings can be written to the disk again', { failures: this.#failures });
      this.#failures = 0;
    } catch (caught) {
      this.#failures++;
      this.#sealAsked = false;
      this.#context.log.error('writing captured readings failed; they are kept and the write is repeated', {
        directory: this.#series.directory,
        error: errorText(caught),
        queued: this.#queue.length,
        failures: this.#failures,
      });
    }
  }

  #tryLater(): void {
    if (this.#closing) return;
    const retry = new AbortController();
    this.#retry = retry;
    this.#context.clock.sleep(backoffMs(this.#failures, { maxMs: 30_000 }), retry.signal).then(
      () => this.#pump(),
      () => {},
    );
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0 || this.#sealAsked || this.#sealing) {
      if (this.#sealing) await this.#finishSeal();
      const reading = this.#queue[0];
      if (reading === undefined) {
        if (!this.#sealAsked) return;
        this.#sealAsked = false;
        if (this.#writer === undefined) return;
        this.#sealing = true;
        continue;
      }
      const { bytes, own } = reading;
      const writer = this.#writer ?? (await this.#open(own));
      if (!this.#fits(writer, bytes)) {
        this.#sealing = true;
        continue;
      }
      this.#queue.shift();
      this.#queuedBytes -= bytes.length;
      this.#dirtySince ??= this.#context.clock.monotonic();
      const isFull = writer.append(bytes);
      if (own !== undefined) this.#sealing = true;
      else if (isFull) await this.#flush(writer);
    }
    if (this.#writer !== undefined && this.#dirtySince !== undefined) await this.#flush(this.#writer);
  }

  async #flush(writer: CaptureFileWriter): Promise<void> {
    const [startedUs, isWhole] = [this.#context.wallMicros(), this.#queue.length === 0];
    await writer.flush();
    if (isWhole) this.#unwrittenUs = this.#queue.length + writer.unwritten > 0 ? startedUs : undefined;
  }

  #due(): boolean {
    return this.#dirtySince !== undefined && this.#context.clock.monotonic() - this.#dirtySince >= syncEveryMs;
  }

  async #sync(): Promise<void> {
    const since = this.#dirtySince;
    this.#dirtySince = undefined;
    try {
      await this.#writer?.sync();
    } catch (caught) {
      this.#dirtySince ??= since;
      throw caught;
    }
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

  async #finishSeal(): Promise<void> {
    const writer = this.#writer;
    // Written before it is synced: a kill meanwhile then costs less.
    if (writer !== undefined) await this.#flush(writer);
    await writer?.seal();
    this.#writer = undefined;
    this.#dirtySince = undefined;
    this.#sealing = false;
  }
}

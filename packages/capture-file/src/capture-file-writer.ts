/**
 * Writes one capture file.
 *
 * States: open → sealed, or open → abandoned (closed under its `.prog` name, for recovery to seal). A reading is first in the user buffer,
 * then written (survives a kill of the process), then synced (survives a power failure). A failed write changes nothing: the bytes stay in
 * the buffer and the next flush writes them at the same position.
 */
import { toBinary } from '@bufbuild/protobuf';
import { concatBytes, PlatformError } from '@platform/base';
import { type CaptureFileHeader, CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { frameHeaderBytes, magic, maxFrameBytes, writeFrame } from './format.ts';
import type { CaptureOutput, CaptureStorage } from './storage.ts';

export interface WriterOptions {
  readonly storage: CaptureStorage;
  /** Path without extension: `<path>.prog` while open, `<path>.capture` once sealed. */
  readonly path: string;
  readonly header: CaptureFileHeader;
  /** Size of the user buffer (`capture_buffer_size`). Default 4,096; a larger reading grows it. */
  readonly bufferBytes?: number;
  /** Number of written bytes that force a sync even within the second. Default 262,144. */
  readonly syncBytes?: number;
}

export interface CaptureFileWriter {
  readonly path: string;
  /** Bytes of the file, including buffered ones. */
  readonly sizeBytes: number;
  readonly readings: number;
  /** Readings that are only in the buffer. */
  readonly unwritten: number;
  /** Appends an encoded SensorData. Returns true if the buffer is full: call `flush()` before the next one. */
  append(reading: Uint8Array): boolean;
  /** Writes the buffer, and syncs if `syncBytes` were written since the last sync. Must not be called concurrently. */
  flush(): Promise<void>;
  /** flush(), then sync if anything was written since the last sync. */
  sync(): Promise<void>;
  /** sync(), close, rename to `.capture`. Can be repeated after a failure. */
  seal(): Promise<void>;
  /** Closes the file as it is. Buffered data is lost. */
  abandon(): Promise<void>;
}

/** Creates `<path>.prog` with its header in the buffer. */
export async function createCaptureFileWriter(options: WriterOptions): Promise<CaptureFileWriter> {
  const { storage, path, header, bufferBytes = 4_096, syncBytes = 262_144 } = options;
  const encoded = toBinary(CaptureFileHeaderSchema, header);
  const start = new Uint8Array(frameHeaderBytes + encoded.length);
  writeFrame(start, 0, encoded);
  const output = await storage.create(`${path}.prog`);
  return new Writer(storage, output, path, concatBytes([magic, start]), Math.max(bufferBytes, 1), syncBytes);
}

class Writer implements CaptureFileWriter {
  readonly path: string;
  readings = 0;
  #writtenReadings = 0;
  readonly #storage: CaptureStorage;
  readonly #output: CaptureOutput;
  readonly #bufferBytes: number;
  readonly #syncBytes: number;
  #buffer: Uint8Array;
  #used: number;
  #position = 0;
  #unsynced = 0;
  #closed = false;

  constructor(
    storage: CaptureStorage,
    output: CaptureOutput,
    path: string,
    start: Uint8Array,
    bufferBytes: number,
    syncBytes: number,
  ) {
    this.#storage = storage;
    this.#output = output;
    this.path = path;
    this.#bufferBytes = bufferBytes;
    this.#syncBytes = syncBytes;
    this.#buffer = new Uint8Array(Math.max(bufferBytes, start.length) + 1_024);
    this.#buffer.set(start);
    this.#used = start.length;
  }

  get sizeBytes(): number {
    return this.#position + this.#used;
  }

  get unwritten(): number {
    return this.readings - this.#writtenReadings;
  }

  append(reading: Uint8Array): boolean {
    if (reading.length === 0 || reading.length > maxFrameBytes) {
      throw new PlatformError(
        'invalid_argument',
        `a reading of ${reading.length} bytes, expected 1 to ${maxFrameBytes}`,
      );
    }
    const needed = this.#used + frameHeaderBytes + reading.length;
    if (needed > this.#buffer.length) {
      const larger = new Uint8Array(needed + this.#bufferBytes);
      larger.set(this.#buffer.subarray(0, this.#used));
      this.#buffer = larger;
    }
    this.#used = writeFrame(this.#buffer, this.#used, reading);
    this.readings++;
    return this.#used >= this.#bufferBytes;
  }

  async flush(): Promise<void> {
    if (this.#used > 0) {
      // Appends during the write go after these bytes, so only the written bytes are removed.
      const bytes = this.#buffer.subarray(0, this.#used);
      const { readings } = this;
      await this.#output.write(bytes, this.#position);
      this.#buffer.copyWithin(0, bytes.length, this.#used);
      this.#used -= bytes.length;
      this.#position += bytes.length;
      this.#writtenReadings = readings;
      this.#unsynced += bytes.length;
    }
    if (this.#unsynced >= this.#syncBytes) await this.#syncWritten();
  }

  async sync(): Promise<void> {
    await this.flush();
    await this.#syncWritten();
  }

  async #syncWritten(): Promise<void> {
    if (this.#unsynced === 0) return;
    // Reset before the sync: after a failed one the kernel may have dropped the pages, so a repeated sync would prove nothing.
    this.#unsynced = 0;
    await this.#output.sync();
  }

  async seal(): Promise<void> {
    if (!this.#closed) {
      await this.sync();
      this.#closed = true;
      await this.#output.close();
    }
    await this.#storage.rename(`${this.path}.prog`, `${this.path}.capture`);
  }

  async abandon(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#output.close();
  }
}

/**
 * Writes one capture file.
 *
 * States: open → sealed, or open → abandoned (closed under its `.prog` name, for recovery to seal). A reading is first in the user buffer,
 * then written (survives a kill of the process), then synced (survives a power failure).
 *
 * A sync takes long on a busy disk. Data flushed during a sync is written concurrently, and the next sync covers it.
 *
 * If a write fails because the disk is full, nothing changes: the bytes stay in the buffer and the next flush writes them at the same
 * position. Data written since the last sync stays in memory until the next one. Any other failure makes the file suspect: the kernel may
 * have dropped the data and report success the next time, so the same file is never written or synced again. The next step copies it to a
 * new file, syncs that and renames it over the suspect one; until then the file stays suspect, and readings stay in memory (C5).
 *
 * Once the file has its sealed name, others may send and remove it, even if the seal itself failed after that. A seal that is repeated then
 * finds it under neither name, and is done.
 */
import { concatBytes, invalidArgument } from '@platform/base';
import type { CaptureFileHeader } from '@platform/proto/platform/capture/v1/capture_file';
import { sealedName } from './file-names.ts';
import { headerSeed, maxRecordBytes, recordBytes, writeRecord } from './format.ts';
import { encodeHeader } from './identity.ts';
import type { CaptureOutput, CaptureStorage } from './storage.ts';

export interface WriterOptions {
  readonly storage: CaptureStorage;
  /** Path without extension: `<path>.prog` while open, `<path>_<readings>.capture` once sealed. */
  readonly path: string;
  readonly header: CaptureFileHeader;
  /** Size of the user buffer (`capture_buffer_size`). Default 4,096; a larger reading grows it. */
  readonly bufferBytes?: number;
}

export interface CaptureFileWriter {
  readonly path: string;
  /** Bytes of the file, including buffered ones. */
  readonly sizeBytes: number;
  readonly readings: number;
  /** Readings that are only in memory. */
  readonly unwritten: number;
  /** Bytes that are only in memory. */
  readonly bufferedBytes: number;
  /** Bytes that no sync has covered yet, including buffered ones. All of them are in memory. */
  readonly unsyncedBytes: number;
  /** Readings that would be missing if nothing more could be written: those only in memory, and of a suspect file those not synced. */
  readonly endangered: number;
  /** Whether it has to be rewritten: until then, nothing is written to it. */
  readonly isSuspect: boolean;
  /** How often in a row its synced part could not be read, which a rewrite needs: what fails for ever is the file, not the disk. */
  readonly unreadable: number;
  /** Appends an encoded SensorData. Returns true if the buffer is full: call `flush()` before the next one. */
  append(reading: Uint8Array): boolean;
  /** Writes the buffer, even while a sync runs. Writes nothing if the file is suspect. */
  flush(): Promise<void>;
  /** Syncs what was written since the last sync. Must not be called concurrently with itself or seal(). */
  sync(): Promise<void>;
  /** flush(), sync(), close, rename to `_<readings>.capture`. Nothing may be appended afterwards. Can be repeated after a failure. */
  seal(): Promise<void>;
  /** Closes the file as it is. Readings that are only in memory are lost. */
  abandon(): Promise<void>;
}

/** Creates `<path>.prog` with its header in the buffer. */
export async function createCaptureFileWriter(options: WriterOptions): Promise<CaptureFileWriter> {
  const output = await options.storage.create(`${options.path}.prog`);
  return new Writer(output, options);
}

/** Spare bytes beyond the size of a buffer, so that the reading that fills it does not grow it. */
const spareBytes = 1_024;

class Writer implements CaptureFileWriter {
  readonly path: string;
  readings = 0;
  unreadable = 0;
  #writtenReadings = 0;
  #syncedReadings = 0;
  readonly #storage: CaptureStorage;
  #output: CaptureOutput;
  readonly #bufferBytes: number;
  /** Checksum of the header. */
  readonly #seed: number;
  #buffer: Uint8Array;
  /** The bytes of the buffer from `#start` to `#end` are not written yet; those before `#start` are in flight. */
  #start = 0;
  #end: number;
  /** Position in the file of the byte at `#start`. */
  #position = 0;
  /** Bytes at the start of the file that a sync has covered. */
  #synced = 0;
  /** The bytes written after those: parts of this buffer or of earlier ones. */
  #inFlight: { readonly bytes: Uint8Array; readonly readings: number }[] = [];
  #writing: Promise<void> | undefined;
  #isNamed = false;
  #isSuspect = false;
  #isClosed = false;
  /** All of it was synced, and the sealed name was requested: it may have that name, whatever the answer was. */
  #mayBeSealed = false;
  #isGone = false;

  constructor(output: CaptureOutput, { storage, path, header, bufferBytes = 4_096 }: WriterOptions) {
    this.#storage = storage;
    this.#output = output;
    this.path = path;
    this.#bufferBytes = Math.max(bufferBytes, 1);
    const body = encodeHeader(header);
    this.#buffer = new Uint8Array(Math.max(this.#bufferBytes, recordBytes(body.length)) + spareBytes);
    const { end, checksum } = writeRecord(this.#buffer, 0, body, { index: 0, seed: headerSeed });
    this.#end = end;
    this.#seed = checksum;
  }

  get sizeBytes(): number {
    return this.#position + this.bufferedBytes;
  }

  get bufferedBytes(): number {
    return this.#end - this.#start;
  }

  get unwritten(): number {
    return this.readings - this.#writtenReadings;
  }

  get unsyncedBytes(): number {
    return this.sizeBytes - this.#synced;
  }

  get isSuspect(): boolean {
    return this.#isSuspect;
  }

  get endangered(): number {
    return this.readings - (this.#isSuspect ? this.#syncedReadings : this.#writtenReadings);
  }

  append(reading: Uint8Array): boolean {
    if (reading.length === 0 || reading.length >= maxRecordBytes - spareBytes)
      throw invalidArgument(`a reading of ${reading.length} bytes, expected 1 to ${maxRecordBytes - spareBytes}`);
    const bytes = recordBytes(reading.length);
    if (this.#end + bytes > this.#buffer.length) this.#renew(bytes);
    this.#end = writeRecord(this.#buffer, this.#end, reading, { index: ++this.readings, seed: this.#seed }).end;
    return this.bufferedBytes >= this.#bufferBytes;
  }

  /** Switches to another buffer, with the unwritten bytes and room for `bytes` more. A write in progress keeps the buffer that it reads. */
  #renew(bytes: number): void {
    const rest = this.#buffer.subarray(this.#start, this.#end);
    // Readings that waited for the disk are appended together: doubled, so that each is copied once on average.
    const least = rest.length <= this.#bufferBytes ? rest.length + bytes : 2 * rest.length + bytes;
    this.#buffer = new Uint8Array(Math.max(this.#bufferBytes, least) + spareBytes);
    this.#buffer.set(rest);
    [this.#start, this.#end] = [0, rest.length];
  }

  /** One write at a time. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing.catch(() => {});
    if (this.bufferedBytes === 0 || this.#isSuspect) return;
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  sync(): Promise<void> {
    return this.#sync(true);
  }

  async #write(): Promise<void> {
    const [bytes, readings] = [this.#buffer.subarray(this.#start, this.#end), this.readings];
    try {
      await this.#output.write(bytes, this.#position);
    } catch (caught) {
      this.#isSuspect ||= !isFull(caught);
      throw caught;
    }
    this.#writtenReadings = readings;
    this.#take(bytes, readings);
  }

  /** Moves the first unwritten bytes to those in flight. Bytes appended during the write come after them. */
  #take(bytes: Uint8Array, readings: number): void {
    this.#start += bytes.length;
    this.#position += bytes.length;
    this.#inFlight.push({ bytes, readings });
  }

  /** @param isNaming whether the name must survive as well; not needed before a rename, which makes the new name durable */
  async #sync(isNaming: boolean): Promise<void> {
    if (this.#isSuspect) return this.#rewrite();
    const [writes, position] = [this.#inFlight.length, this.#position];
    if (writes === 0) return;
    await this.#believe(async () => {
      await this.#output.sync();
      if (isNaming && !this.#isNamed) await this.#storage.syncName(`${this.path}.prog`);
    });
    this.#isNamed ||= isNaming;
    this.#settle(writes, position);
  }

  /** Marks the file as suspect if `step` fails: a later success of the same step proves nothing. */
  async #believe(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (caught) {
      this.#isSuspect = true;
      throw caught;
    }
  }

  /** Records that the first `writes` in flight, up to `position`, would survive a power failure. */
  #settle(writes: number, position: number): void {
    this.#synced = position;
    for (const { readings } of this.#inFlight.splice(0, writes)) this.#syncedReadings = readings;
    // Nothing refers to the bytes of the buffer now.
    if (this.#inFlight.length === 0 && this.bufferedBytes === 0 && this.#writing === undefined)
      this.#start = this.#end = 0;
  }

  /** Copies the suspect file and the bytes in flight to a new file, which takes its name. */
  async #rewrite(): Promise<void> {
    await this.#writing?.catch(() => {});
    if (this.bufferedBytes > 0) this.#take(this.#buffer.subarray(this.#start, this.#end), this.readings);
    const [writes, position, readings] = [this.#inFlight.length, this.#position, this.readings];
    const temporary = `${this.path}.prog.tmp`;
    const kept = this.#synced === 0 ? new Uint8Array() : await this.#readBack();
    if (kept === undefined) {
      this.#isSuspect = false;
      this.#isGone = true;
      return;
    }
    await this.#storage.remove(temporary);
    const output = await this.#storage.create(temporary);
    try {
      // The bytes in flight go in one write to their own position: if less could be read back, a hole remains, which readers skip.
      await output.write(kept, 0);
      await output.write(concatBytes(this.#inFlight.map(({ bytes }) => bytes)), this.#synced);
      await output.sync();
      await this.#storage.rename(temporary, `${this.path}.prog`);
    } catch (caught) {
      await output.close().catch(() => {});
      await this.#storage.remove(temporary).catch(() => {});
      throw caught;
    }
    await this.#output.close().catch(() => {});
    this.#output = output;
    this.#writtenReadings = readings;
    this.#isNamed = true;
    this.#isSuspect = false;
    this.#isClosed = false;
    this.#settle(writes, position);
  }

  /** The synced bytes, read under either of the names that the file may have. Undefined if it was sealed and is gone. */
  async #readBack(): Promise<Uint8Array | undefined> {
    try {
      const bytes = await this.#storage.read(`${this.path}.prog`).catch((caught) => {
        if (!isMissing(caught)) throw caught;
        return this.#storage.read(this.#sealedPath);
      });
      this.unreadable = 0;
      return bytes.subarray(0, this.#synced);
    } catch (caught) {
      if (isMissing(caught) && this.#mayBeSealed) return undefined;
      this.unreadable++;
      throw caught;
    }
  }

  get #sealedPath(): string {
    return sealedName(`${this.path}.prog`, this.readings);
  }

  async seal(): Promise<void> {
    if (!this.#isClosed) await this.flush();
    await this.#sync(false);
    if (this.#isGone) return;
    if (!this.#isClosed) {
      this.#isClosed = true;
      await this.#output.close();
    }
    this.#mayBeSealed = true;
    await this.#believe(() => this.#storage.rename(`${this.path}.prog`, this.#sealedPath));
  }

  async abandon(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#output.close();
  }
}

function isFull(caught: unknown): boolean {
  const code = codeOf(caught);
  return code === 'ENOSPC' || code === 'EDQUOT';
}

function isMissing(caught: unknown): boolean {
  return codeOf(caught) === 'ENOENT';
}

function codeOf(caught: unknown): unknown {
  return caught instanceof Error && 'code' in caught ? caught.code : undefined;
}

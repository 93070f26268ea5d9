/**
 * A log file that rotates: at `maxBytes` the file becomes `<file>.1`, `<file>.1` becomes `<file>.2`, and so on; `oldFiles` old ones are
 * kept. So all together have at most maxBytes × (oldFiles + 1) bytes, even across restarts, because the actual file size counts.
 *
 * Lines wait in memory for the disk, at most `maxWaitingBytes`; beyond that, the oldest are dropped and counted. A file that another
 * process has moved or deleted is created again. States: written → failing (full disk, no permission; reported once, and retried every
 * `retryMs`) → written.
 */
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Clock, errorText } from '@platform/base';
import { unless } from '../directories/folder.ts';
import { makeDirectory } from '../directories/make-directory.ts';

export interface LogFileOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Called when writing begins to fail, with the reason, and when it works again, with the number of lines that were dropped. */
  readonly onState: (state: { readonly problem: string } | { readonly dropped: number }) => void;
  /** Default 16 MiB. A longer line gets a separate file. */
  readonly maxBytes?: number;
  /** Default 4. */
  readonly oldFiles?: number;
  /** Default 1 MiB. */
  readonly maxWaitingBytes?: number;
}

export const defaultMaxBytes: number = 16 * 1024 * 1024;
export const defaultOldFiles = 4;
const retryMs = 5_000;

export class LogFile implements AsyncDisposable {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #onState: LogFileOptions['onState'];
  readonly #maxBytes: number;
  readonly #oldFiles: number;
  readonly #maxWaitingBytes: number;
  readonly #stop = new AbortController();
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #isFailing = false;
  #handle: FileHandle | undefined;
  #running: Promise<void> | undefined;

  constructor({ path, clock, onState, maxBytes, oldFiles, maxWaitingBytes }: LogFileOptions) {
    this.#path = path;
    this.#clock = clock;
    this.#onState = onState;
    this.#maxBytes = maxBytes ?? defaultMaxBytes;
    this.#oldFiles = oldFiles ?? defaultOldFiles;
    this.#maxWaitingBytes = maxWaitingBytes ?? 1024 * 1024;
  }

  /** @param text a line with its line break */
  write(text: string): void {
    const bytes = Buffer.from(text);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    while (this.#waitingBytes > this.#maxWaitingBytes && this.#waiting.length > 1) {
      this.#waitingBytes -= this.#waiting.shift()?.length ?? 0;
      this.#dropped++;
    }
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Tries once more to write the waiting lines. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#handle?.close().catch(() => {});
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    // Lines logged at the same time are written together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      try {
        await this.#writeSome();
        if (!this.#isFailing) continue;
        this.#isFailing = false;
        const dropped = this.#dropped;
        this.#dropped = 0;
        this.#onState({ dropped });
      } catch (caught) {
        await this.#handle?.close().catch(() => {});
        this.#handle = undefined;
        if (!this.#isFailing) this.#onState({ problem: errorText(caught) });
        this.#isFailing = true;
        if (signal.aborted) return;
        await this.#clock.sleep(retryMs, signal).catch(() => {});
      }
    }
  }

  /** Writes as many lines as fit into the file. */
  async #writeSome(): Promise<void> {
    let { handle, size } = await this.#open();
    const [first] = this.#waiting;
    if (size > 0 && size + (first?.length ?? 0) > this.#maxBytes) {
      await this.#rotate();
      ({ handle, size } = await this.#open());
    }
    let count = 0;
    for (; count < this.#waiting.length; count++) {
      const { length } = this.#waiting[count] as Buffer;
      if (count > 0 && size + length > this.#maxBytes) break;
      size += length;
    }
    const lines = this.#waiting.splice(0, count);
    let rest = Buffer.concat(lines);
    this.#waitingBytes -= rest.length;
    try {
      while (rest.length > 0) rest = rest.subarray((await handle.write(rest)).bytesWritten);
    } catch (caught) {
      // Bytes already written must not be written again.
      this.#waiting.unshift(...linesOf(rest));
      this.#waitingBytes += rest.length;
      throw caught;
    }
  }

  /** Opens the file of this name, even if the earlier one was moved or truncated. */
  async #open(): Promise<{ handle: FileHandle; size: number }> {
    if (this.#handle !== undefined) {
      const [held, named] = await Promise.all([this.#handle.stat(), stat(this.#path).catch(() => undefined)]);
      if (named?.ino === held.ino && named.dev === held.dev) return { handle: this.#handle, size: held.size };
      await this.#handle.close().catch(() => {});
      this.#handle = undefined;
    }
    await makeDirectory(dirname(this.#path));
    this.#handle = await open(this.#path, 'a', 0o600);
    return { handle: this.#handle, size: (await this.#handle.stat()).size };
  }

  async #rotate(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
    for (let number = this.#oldFiles; number > 0; number--)
      await rename(number === 1 ? this.#path : `${this.#path}.${number - 1}`, `${this.#path}.${number}`).catch(
        unless('ENOENT'),
      );
    if (this.#oldFiles === 0) await rm(this.#path, { force: true });
  }
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start) + 1 || bytes.length;
    lines.push(bytes.subarray(start, end));
    start = end;
  }
  return lines;
}

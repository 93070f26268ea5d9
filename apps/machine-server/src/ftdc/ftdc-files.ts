/**
 * The files of full-time diagnostics, below `<home>/ftdc`: `<time of the start of the file>.ftdc`. Each run begins a new one, and so does a
 * file that has reached 1 MiB. The oldest are deleted once there are more than 32, so that they take at most 32 MiB; files of other names
 * stay.
 */
import { appendFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../directories/make-directory.ts';

export const maxFileBytes: number = 1024 * 1024;
export const maxFiles = 32;

const ours = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.ftdc$/;

export class FtdcFiles {
  readonly #directory: string;
  #path: string | undefined;
  #bytes = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Whether the next bytes begin a file. */
  get isFull(): boolean {
    return this.#path === undefined || this.#bytes >= maxFileBytes;
  }

  /** Begins a file and deletes the oldest. */
  async begin(nowMs: number, header: Uint8Array): Promise<void> {
    await makeDirectory(this.#directory);
    const names = (await readdir(this.#directory)).filter((name) => ours.test(name)).toSorted();
    for (const name of names.slice(0, Math.max(0, names.length + 1 - maxFiles)))
      await rm(join(this.#directory, name), { force: true });
    this.#path = join(this.#directory, `${new Date(nowMs).toISOString().replaceAll(/[:.]/g, '-')}.ftdc`);
    this.#bytes = 0;
    await this.append(header);
  }

  async append(bytes: Uint8Array): Promise<void> {
    if (this.#path === undefined) return;
    try {
      await appendFile(this.#path, bytes, { mode: 0o600 });
      this.#bytes += bytes.length;
    } catch (caught) {
      // A partial write would be a torn block in the middle of a file, so the next block begins a new file.
      this.#path = undefined;
      throw caught;
    }
  }
}

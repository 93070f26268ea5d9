/**
 * What a kill of the process leaves besides `capture_alive`: `<home>/capture_written` says until when every reading had been handed to the
 * operating system, and in which run of it. That survives a kill, and not a power cut: the file is never synced, and a start after another
 * boot leaves it out. It is written while the disk takes its time to sync, so that a kill then costs hardly more than at other times.
 */
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

const digits = 17;

export class WrittenNote implements AsyncDisposable {
  readonly #path: string;
  readonly #bootId: string;
  #handle: FileHandle | undefined;
  #text = '';
  #writing: Promise<void> = Promise.resolve();

  /** @param bootId of this run of the operating system; empty: not known, and nothing is noted */
  constructor(home: string, bootId: string) {
    this.#path = pathOf(home);
    this.#bootId = bootId;
  }

  /** Every reading from before `writtenUs` (wall clock) was handed to the operating system. */
  note(writtenUs: number): Promise<void> {
    if (this.#bootId === '') return Promise.resolve();
    this.#text = `${String(Math.max(0, Math.floor(writtenUs))).padStart(digits, '0')} ${this.#bootId}\n`;
    const write = async (): Promise<void> => {
      this.#handle ??= await open(this.#path, 'w', 0o600);
      await this.#handle.write(this.#text, 0);
    };
    this.#writing = this.#writing.then(write, write);
    return this.#writing;
  }

  /** A regular stop. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing.catch(() => {});
    await this.#handle?.close();
    await rm(this.#path, { force: true });
  }
}

/** The latest note, µs, if it was made in this run of the operating system. */
export async function readWritten(home: string, bootId: string): Promise<number | undefined> {
  const text = await readFile(pathOf(home), 'utf8').catch(() => '');
  const [, written, boot] = /^(\d{17}) (\S+)\n$/.exec(text) ?? [];
  return written !== undefined && boot === bootId ? Number(written) : undefined;
}

/** Differs after each boot; empty where the operating system does not say. */
export async function readBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')).trim();
}

function pathOf(home: string): string {
  return join(home, 'capture_written');
}

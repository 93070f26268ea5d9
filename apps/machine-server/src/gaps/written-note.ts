/**
 * A second note besides `capture_alive`, for kills of the process: `<home>/capture_written` records until when every reading had been
 * handed to the operating system, until when more may have been taken (at most a second later), and the run of the operating system. It
 * survives a kill but not a power cut: the file is never synced, and a start after another boot ignores it.
 */
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readWhole } from '@platform/base';
import { NotedTimes, type Times } from './noted-times.ts';

const digits = 17;

export class WrittenNote implements AsyncDisposable {
  readonly #path: string;
  readonly #bootId: string;
  #handle: FileHandle | undefined;
  readonly #noted = new NotedTimes((times) => this.#write(times));

  /** @param bootId id of this run of the operating system; empty if unknown: then nothing is noted */
  constructor(home: string, bootId: string) {
    this.#path = pathOf(home);
    this.#bootId = bootId;
  }

  /** Whether a reading may be taken at this time (wall clock, µs). */
  covers(us: number): boolean {
    return this.#bootId === '' || this.#noted.covers(us);
  }

  note(times: Times): Promise<void> {
    return this.#bootId === '' ? Promise.resolve() : this.#noted.save(times);
  }

  /** A regular stop. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#noted.settled();
    await this.#handle?.close();
    await rm(this.#path, { force: true });
  }

  async #write({ safeUs, untilUs }: Times): Promise<void> {
    this.#handle ??= await open(this.#path, 'w', 0o600);
    await this.#handle.write(`${textOfMicros(safeUs, untilUs)} ${this.#bootId}\n`, 0);
  }
}

/** The latest note, if it was made in this run of the operating system. */
export async function readWritten(home: string, bootId: string): Promise<Times | undefined> {
  const text = await readWhole(pathOf(home)).then(String, () => '');
  const [, safe, until, boot] = /^(\d{17}) (\d{17}) (\S+)\n$/.exec(text) ?? [];
  return boot === bootId ? { safeUs: Number(safe), untilUs: Number(until) } : undefined;
}

/** Times in a fixed width. */
export function textOfMicros(...micros: readonly number[]): string {
  return micros.map((each) => String(Math.max(0, Math.floor(each))).padStart(digits, '0')).join(' ');
}

/** Differs after each boot; empty if the operating system does not provide it. */
export async function readBootId(): Promise<string> {
  return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')).trim();
}

function pathOf(home: string): string {
  return join(home, 'capture_written');
}

/**
 * What a crash leaves behind: `<home>/capture_alive` says what was captured, until when every reading had reached the disk, and until when
 * more may have been taken: a second later, or longer if the disk was slow. It is updated every 800 ms and removed by a regular stop. A start
 * that finds it reports what the crash may have cost.
 */
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../directories/write-durably.ts';
import type { GapSeries } from './gaps.ts';
import { readWritten, WrittenNote } from './written-note.ts';

export interface AliveSeries extends GapSeries {
  readonly hz: number;
}

export interface Crash {
  /** Everything that was captured before had reached the disk or, if only the process ended, the operating system. Wall clock, µs. */
  readonly safeUs: number;
  /** Nothing was captured after it. */
  readonly untilUs: number;
  readonly series: readonly AliveSeries[];
}

const digits = 17;
/** From a noted time to the next. */
const usualUs = 1_000_000;

export class Alive implements AsyncDisposable {
  readonly #path: string;
  readonly #written: WrittenNote;
  #handle: FileHandle | undefined;
  #extendedUs = 0;

  /** @param bootId of this run of the operating system; empty: not known */
  constructor(home: string, bootId = '') {
    this.#path = pathOf(home);
    this.#written = new WrittenNote(home, bootId);
  }

  /** Starts a new file; with no series, there is nothing that a crash could cost. @param safeUs as of `mark` */
  async capturing(series: readonly AliveSeries[], safeUs: number): Promise<void> {
    await this.#close();
    if (series.length === 0) return rm(this.#path, { force: true });
    this.#extendedUs = 0;
    await writeDurably(this.#path, `${textOf(safeUs, safeUs + usualUs)}\n${JSON.stringify(series)}\n`);
    this.#handle = await open(this.#path, 'r+');
  }

  /** Every reading from before `safeUs` has reached the disk. */
  async mark(safeUs: number): Promise<void> {
    if (this.#handle === undefined) return;
    await this.#handle.write(textOf(safeUs, Math.max(safeUs + usualUs, this.#extendedUs)), 0);
    await this.#handle.datasync();
    this.#extendedUs = 0;
  }

  /**
   * The disk is slow: the next mark may come later than a second after the last one, but readings are taken until `untilUs`.
   *
   * @param writtenUs every reading from before was handed to the operating system
   */
  async extend(untilUs: number, writtenUs: number): Promise<void> {
    if (this.#handle === undefined) return;
    this.#extendedUs = untilUs;
    await this.#handle.write(textOf(untilUs), digits + 1);
    await this.#written.note(writtenUs);
    await this.#handle.datasync();
  }

  /** A regular stop: nothing was lost. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
    await rm(this.#path, { force: true });
    await this.#written[Symbol.asyncDispose]();
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

/**
 * What the start before left, if it did not stop regularly. A file that cannot be read says nothing.
 *
 * @param bootId of this run of the operating system; empty: not known
 */
export async function readCrash(home: string, bootId = ''): Promise<Crash | undefined> {
  const text = await readFile(pathOf(home), 'utf8').catch(() => '');
  const [, safe, until, json = ''] = /^(\d{17})(?: (\d{17}))?\n(.*)\n$/.exec(text) ?? [];
  if (safe === undefined) return undefined;
  const untilUs = until === undefined ? Number(safe) + usualUs : Number(until);
  const writtenUs = bootId === '' ? undefined : await readWritten(home, bootId);
  // After a step of the clock, a note that is later than all that was captured says nothing.
  const safeUs = writtenUs !== undefined && writtenUs <= untilUs ? Math.max(Number(safe), writtenUs) : Number(safe);
  try {
    const series: unknown = JSON.parse(json);
    return Array.isArray(series) ? { safeUs, untilUs, series: series as AliveSeries[] } : undefined;
  } catch {
    return undefined;
  }
}

function pathOf(home: string): string {
  return join(home, 'capture_alive');
}

function textOf(...micros: readonly number[]): string {
  return micros.map((each) => String(Math.max(0, Math.floor(each))).padStart(digits, '0')).join(' ');
}

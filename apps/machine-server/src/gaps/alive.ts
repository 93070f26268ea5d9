/**
 * What a crash leaves behind: `<home>/capture_alive` says what was captured, until when every reading had reached the disk, and until when
 * more may have been taken: a second later, or longer if the disk is slow. It is updated every 800 ms and removed by a regular stop. A start
 * that finds it reports what the crash may have cost.
 *
 * Invariant: a reading is taken only at a time that the note on the disk covers, whichever of two notes a power cut leaves (`covers`). If
 * notes fail, and are not only late, readings are taken nevertheless: they are worth more than a count of those that a crash may cost.
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

type OpenFile = (path: string, flags: string) => Promise<FileHandle>;
type Times = Pick<Crash, 'safeUs' | 'untilUs'>;

const digits = 17;
/** From a noted time to the next. */
const usualUs = 1_000_000;
const nothing: Times = { safeUs: Number.POSITIVE_INFINITY, untilUs: Number.NEGATIVE_INFINITY };

export class Alive implements AsyncDisposable {
  readonly #path: string;
  readonly #written: WrittenNote;
  readonly #openFile: OpenFile;
  #handle: FileHandle | undefined;
  #series: readonly AliveSeries[] = [];
  /** The series are not in the file yet. */
  #isNew = false;
  /** To be noted. */
  #times = nothing;
  /** What a power cut leaves: of a note that is being written and the one before, the narrower. */
  #covered = nothing;
  #extendedUs = 0;
  #isFailing = false;
  #isStale = false;
  #saving: Promise<void> | undefined;

  /** @param bootId of this run of the operating system; empty: not known */
  constructor(home: string, bootId = '', openFile: OpenFile = open) {
    this.#path = pathOf(home);
    this.#written = new WrittenNote(home, bootId);
    this.#openFile = openFile;
  }

  /** Whether a reading may be taken at this time (wall clock): a crash right after it would be reported. */
  covers(us: number): boolean {
    return this.#isFailing || (us >= this.#covered.safeUs && us <= this.#covered.untilUs);
  }

  /** Starts a new file; with no series, there is nothing that a crash could cost. @param safeUs as of `mark` */
  async capturing(series: readonly AliveSeries[], safeUs: number, untilUs: number = safeUs + usualUs): Promise<void> {
    this.#series = series;
    this.#isNew = true;
    this.#extendedUs = 0;
    await this.#save({ safeUs, untilUs });
  }

  /** Every reading from before `safeUs` has reached the disk. @param untilUs readings are taken until then, before the next mark */
  async mark(safeUs: number, untilUs: number = safeUs + usualUs): Promise<void> {
    if (this.#series.length === 0) return;
    const extendedUs = this.#extendedUs;
    await this.#save({ safeUs, untilUs: Math.max(untilUs, extendedUs) });
    if (this.#extendedUs === extendedUs) this.#extendedUs = 0;
  }

  /**
   * The disk is slow: the next mark comes later than was expected, but readings are taken until `untilUs`.
   *
   * @param writtenUs every reading from before was handed to the operating system
   */
  async extend(untilUs: number, writtenUs: number): Promise<void> {
    if (this.#series.length === 0) return;
    this.#extendedUs = untilUs;
    await Promise.all([this.#written.note(writtenUs), this.#save({ ...this.#times, untilUs })]);
  }

  /** A regular stop: nothing was lost. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#series = [];
    await this.#saving?.catch(() => {});
    await this.#close();
    await rm(this.#path, { force: true });
    await this.#written[Symbol.asyncDispose]();
  }

  /** One note at a time, so that the newest one stays; of those that wait for it, only the last is written. */
  #save(times: Times): Promise<void> {
    this.#times = times;
    this.#isStale = true;
    this.#saving ??= this.#saveAll().finally(() => {
      this.#saving = undefined;
    });
    return this.#saving;
  }

  async #saveAll(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      const times = this.#times;
      this.#covered = {
        safeUs: Math.max(this.#covered.safeUs, times.safeUs),
        untilUs: Math.min(this.#covered.untilUs, times.untilUs),
      };
      try {
        await this.#write(times);
      } catch (caught) {
        this.#isFailing = true;
        await this.#close().catch(() => {});
        throw caught;
      }
      this.#isFailing = false;
      this.#covered = times;
    }
  }

  async #write({ safeUs, untilUs }: Times): Promise<void> {
    if (this.#isNew) await this.#close();
    this.#isNew = false;
    if (this.#series.length === 0) return rm(this.#path, { force: true });
    const text = textOf(safeUs, untilUs);
    if (this.#handle !== undefined) {
      await this.#handle.write(text, 0);
      return this.#handle.datasync();
    }
    await writeDurably(this.#path, `${text}\n${JSON.stringify(this.#series)}\n`);
    this.#handle = await this.#openFile(this.#path, 'r+');
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

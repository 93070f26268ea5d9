/**
 * Detects crashes: `<home>/capture_alive` records the captured series, until when every reading had reached the disk, and until when more
 * may have been taken: a second later, or longer if the disk is slow. It is updated every 800 ms and removed by a regular stop. A start
 * that finds it reports the readings that the crash may have lost. If only the process ended, `capture_written` has a narrower range
 * (`WrittenNote`).
 *
 * Invariant: a reading is taken only at a time that both notes would cover after a crash (`covers`).
 */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ClockAndLog, jsonIn } from '@platform/base';
import { readState } from '../directories/read-state.ts';
import { writeDurably } from '../directories/write-durably.ts';
import type { GapSeries } from './gap-journal.ts';
import { NotedTimes, type Times } from './noted-times.ts';
import { readWritten, textOfMicros, WrittenNote } from './written-note.ts';

export interface AliveSeries extends GapSeries {
  readonly hz: number;
  /** Each reading has a file of its own, such as an image. */
  readonly ownFiles?: true;
}

/** Before `safeUs`, everything had reached the disk or, if only the process ended, the operating system. */
export interface Crash extends Times {
  readonly series: readonly AliveSeries[];
}

type OpenFile = (path: string, flags: string) => Promise<FileHandle>;

/** The usual time covered by a note. */
const usualUs = 1_000_000;

export class Alive implements AsyncDisposable {
  readonly #path: string;
  readonly #written: WrittenNote;
  readonly #openFile: OpenFile;
  #handle: FileHandle | undefined;
  #series: readonly AliveSeries[] = [];
  /** The series are not in the file yet. */
  #isNew = false;
  readonly #synced = new NotedTimes((times) => this.#write(times));
  #extendedUs = 0;

  /** @param bootId id of this run of the operating system; empty if unknown */
  constructor(home: string, bootId = '', openFile: OpenFile = open) {
    this.#path = pathOf(home);
    this.#written = new WrittenNote(home, bootId);
    this.#openFile = openFile;
  }

  /** Whether a reading may be taken at this time (wall clock): a crash right after it would be reported. */
  covers(us: number): boolean {
    return this.#synced.covers(us) && this.#written.covers(us);
  }

  /** The mark that is being made takes so long that it may never be made: readings do not wait for it any more. */
  hangs(): void {
    this.#synced.hangs();
  }

  /** Until when readings may be taken if no further mark is made (wall clock). */
  get untilUs(): number {
    return this.#synced.untilUs;
  }

  /** Before this time, every reading of the captured series had reached the disk; undefined if none is captured. */
  get safeUs(): number | undefined {
    return this.#series.length === 0 ? undefined : this.#synced.last.safeUs;
  }

  /** Starts a new file; without series, a crash can lose nothing. @param safeUs as for `mark` */
  async capturing(series: readonly AliveSeries[], safeUs: number, untilUs: number = safeUs + usualUs): Promise<void> {
    this.#series = series;
    this.#isNew = true;
    this.#extendedUs = 0;
    await this.#synced.save({ safeUs, untilUs });
  }

  /** Every reading from before `safeUs` has reached the disk. @param untilUs readings are taken until then, before the next mark */
  async mark(safeUs: number, untilUs: number = safeUs + usualUs): Promise<void> {
    if (this.#series.length === 0) return;
    const extendedUs = this.#extendedUs;
    await this.#synced.save({ safeUs, untilUs: Math.max(untilUs, extendedUs) });
    if (this.#extendedUs === extendedUs) this.#extendedUs = 0;
  }

  /** The disk is slow: the next mark comes later than expected, but readings are taken until `untilUs`. */
  async extend(untilUs: number): Promise<void> {
    if (this.#series.length === 0) return;
    this.#extendedUs = untilUs;
    await this.#synced.save({ ...this.#synced.last, untilUs });
  }

  /**
   * Every reading before `safeUs` was handed to the operating system. @param untilUs readings are taken until then, before the next mark
   */
  async written(safeUs: number, untilUs: number): Promise<void> {
    if (this.#series.length > 0) await this.#written.note({ safeUs, untilUs });
  }

  /** A regular stop: nothing was lost. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#series = [];
    await this.#synced.settled();
    await this.#close();
    await rm(this.#path, { force: true });
    await this.#written[Symbol.asyncDispose]();
  }

  async #write({ safeUs, untilUs }: Times): Promise<void> {
    if (this.#isNew) await this.#close();
    this.#isNew = false;
    if (this.#series.length === 0) return rm(this.#path, { force: true });
    const text = textOfMicros(safeUs, untilUs);
    try {
      if (this.#handle !== undefined) {
        await this.#handle.write(text, 0);
        return await this.#handle.datasync();
      }
      await writeDurably(this.#path, `${text}\n${JSON.stringify(this.#series)}\n`);
      this.#handle = await this.#openFile(this.#path, 'r+');
    } catch (caught) {
      await this.#close().catch(() => {});
      throw caught;
    }
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

/**
 * The note of the previous run, if that did not stop regularly. A damaged one is ignored.
 *
 * @param bootId id of this run of the operating system; empty if unknown
 */
export async function readCrash(home: string, bootId: string, deps: ClockAndLog): Promise<Crash | undefined> {
  const text = (await readState(pathOf(home), deps)) ?? '';
  const [, safe, until, json = ''] = /^(\d{17}) (\d{17})\n(.*)\n$/.exec(text) ?? [];
  if (safe === undefined) return undefined;
  const synced = { safeUs: Number(safe), untilUs: Number(until) };
  const written = bootId === '' ? undefined : await readWritten(home, bootId);
  const times = written === undefined ? synced : narrower(synced, written);
  const series = jsonIn(json);
  return Array.isArray(series) ? { ...times, series: series as AliveSeries[] } : undefined;
}

function pathOf(home: string): string {
  return join(home, 'capture_alive');
}

/**
 * Combines both notes of a process that ended alone. A later written note counts alone: the disk failed, or the clock stepped forward, and
 * everything from before it had been handed to the operating system. An earlier one is out of date.
 */
function narrower(synced: Times, written: Times): Times {
  if (written.untilUs < synced.safeUs) return synced;
  if (written.safeUs > synced.untilUs) return written;
  return {
    safeUs: Math.max(synced.safeUs, written.safeUs),
    untilUs: Math.min(synced.untilUs, written.untilUs),
  };
}

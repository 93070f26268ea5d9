/**
 * What a crash leaves behind: `<home>/capture_alive` says what was captured, and until when every reading had reached the disk. It is
 * updated every 800 ms and removed by a regular stop. A start that finds it reports what the crash may have cost, at most a second.
 */
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../directories/write-durably.ts';
import type { GapSeries } from './gaps.ts';

export interface AliveSeries extends GapSeries {
  readonly hz: number;
}

export interface Crash {
  /** Everything that was captured before had reached the disk. Wall clock, µs. */
  readonly safeUs: number;
  readonly series: readonly AliveSeries[];
}

const digits = 17;

export class Alive implements AsyncDisposable {
  readonly #path: string;
  #handle: FileHandle | undefined;

  constructor(home: string) {
    this.#path = pathOf(home);
  }

  /** Starts a new file; with no series, there is nothing that a crash could cost. */
  async capturing(series: readonly AliveSeries[], nowUs: number): Promise<void> {
    await this.#close();
    if (series.length === 0) return rm(this.#path, { force: true });
    await writeDurably(this.#path, `${textOf(nowUs)}\n${JSON.stringify(series)}\n`);
    this.#handle = await open(this.#path, 'r+');
  }

  /** Every reading from before `safeUs` has reached the disk. */
  async mark(safeUs: number): Promise<void> {
    if (this.#handle === undefined) return;
    await this.#handle.write(textOf(safeUs), 0);
    await this.#handle.datasync();
  }

  /** A regular stop: nothing was lost. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
    await rm(this.#path, { force: true });
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

/** What the start before left, if it did not stop regularly. A file that cannot be read says nothing. */
export async function readCrash(home: string): Promise<Crash | undefined> {
  const text = await readFile(pathOf(home), 'utf8').catch(() => '');
  const [, safeUs, json = ''] = /^(\d{17})\n(.*)\n$/.exec(text) ?? [];
  if (safeUs === undefined) return undefined;
  try {
    const series: unknown = JSON.parse(json);
    return Array.isArray(series) ? { safeUs: Number(safeUs), series: series as AliveSeries[] } : undefined;
  } catch {
    return undefined;
  }
}

function pathOf(home: string): string {
  return join(home, 'capture_alive');
}

function textOf(micros: number): string {
  return String(Math.max(0, Math.floor(micros))).padStart(digits, '0');
}

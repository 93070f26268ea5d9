/**
 * The files of one series that take no more readings and are not sealed yet. Each repeats its own steps. One that cannot be read back for
 * its rewrite, while others of the series are sealed, is given up: it stays on the disk as it is, and the next start recovers what can be
 * read of it.
 */
import type { Log } from '@platform/base';
import type { SeriesFile } from './series-file.ts';

export interface UnsealedFilesDeps {
  /** A file was sealed or given up. */
  readonly fewer: () => void;
  /** A file was given up. @param sinceUs when it was opened, wall clock */
  readonly lost: (readings: number, sinceUs: number) => void;
  readonly log: Log;
}

/** Each is an open file, and what it has not synced is in memory. */
const mostFiles = 4;
/** With the delays between attempts, more than five minutes. */
const mostUnreadable = 20;
/** About half a minute. */
const manyFailures = 8;

export class UnsealedFiles {
  readonly #deps: UnsealedFilesDeps;
  /** For each file that failed: how many had been sealed when it failed first. */
  readonly #files = new Map<SeriesFile, number | undefined>();
  #sealed = 0;

  constructor(deps: UnsealedFilesDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#files.size;
  }

  /** Whether the next one has to wait. If all fail again and again, one more shows whether only they fail, or the disk. */
  get isFull(): boolean {
    const areStuck = this.files.every(({ failures }) => failures >= manyFailures);
    return this.size >= (areStuck ? mostFiles + 1 : mostFiles);
  }

  get files(): readonly SeriesFile[] {
    return [...this.#files.keys()];
  }

  get failures(): number {
    let most = 0;
    for (const { failures } of this.#files.keys()) most = Math.max(most, failures);
    return most;
  }

  /** Bytes that are in memory because they are not synced. */
  get bytes(): number {
    let bytes = 0;
    for (const { writer } of this.#files.keys()) bytes += writer.unsyncedBytes;
    return bytes;
  }

  add(file: SeriesFile): void {
    this.#files.set(file, file.failures > 0 ? this.#sealed : undefined);
    file.seal();
  }

  sealed(file: SeriesFile): void {
    this.#sealed++;
    this.#files.delete(file);
    this.#deps.fewer();
  }

  failed(file: SeriesFile): void {
    const before = this.#files.get(file) ?? this.#sealed;
    this.#files.set(file, before);
    if (file.writer.unreadable < mostUnreadable || this.#sealed === before) return;
    this.#files.delete(file);
    const readings = file.giveUp();
    const { path } = file.writer;
    this.#deps.log.error('a capture file cannot be read back and is given up; the next start recovers what it can', {
      ...{ path, readings },
    });
    if (readings > 0) this.#deps.lost(readings, file.openedUs);
    this.#deps.fewer();
  }

  /** Resolves when all are sealed; false after one failure of the disk. */
  async settled(): Promise<boolean> {
    return !(await Promise.all(this.files.map((file) => file.settled()))).includes(false);
  }
}

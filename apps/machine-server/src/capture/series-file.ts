/**
 * One capture file and its steps on the disk: synced again and again, finally sealed, each step repeated until it succeeds.
 *
 * States: open → sealing → sealed, or given up. A step that fails is repeated with growing delays (at most 30 s), for this file alone.
 */
import type { Clock } from '@platform/base';
import type { CaptureFileWriter } from '@platform/capture-file';
import { DiskStep } from './disk-step.ts';

export interface SeriesFileDeps {
  /** Wall clock. */
  readonly openedUs: number;
  readonly failed: (caught: unknown, failures: number) => void;
  readonly recovered: (failures: number) => void;
  /** A sync is done, or the file is sealed. */
  readonly done: () => void;
  readonly clock: Clock;
}

type Told = (isDone: boolean) => void;

export class SeriesFile {
  readonly writer: CaptureFileWriter;
  readonly openedUs: number;
  /** Wall-clock time before which every reading in it was handed to the operating system; undefined if all were. */
  unwrittenUs: number | undefined;
  readonly #step: DiskStep;
  /** Those who wait for a sync that begins from now on, and for the running step. */
  #asked: Told[] = [];
  #begun: Told[] = [];
  #isSyncAsked = false;
  #isSealing = false;
  #isSealed = false;

  constructor(writer: CaptureFileWriter, { openedUs, failed, recovered, done, clock }: SeriesFileDeps) {
    this.writer = writer;
    this.openedUs = openedUs;
    this.#step = new DiskStep({
      ...{ step: () => this.#run(done), hasMore: () => this.#hasMore || this.#asked.length > 0, recovered, clock },
      failed: (caught, failures) => {
        this.#isSyncAsked = true;
        tell([...this.#begun.splice(0), ...this.#asked.splice(0)], false);
        failed(caught, failures);
      },
    });
  }

  /** Consecutive failures of its steps; 0 when they work. */
  get failures(): number {
    return this.#step.failures;
  }

  /** Whether a step is in progress. */
  get isBusy(): boolean {
    return this.#step.running !== undefined;
  }

  get isSealed(): boolean {
    return this.#isSealed;
  }

  /** Syncs what was written so far. Returns whether that is done: false after one failure of the disk. */
  sync(): Promise<boolean> {
    this.#isSyncAsked = true;
    return this.#ask();
  }

  /** Seals it; nothing may be written to it any more. */
  seal(): void {
    this.#isSealing = true;
    if (!this.#step.isWaiting) void this.#step.run();
  }

  /** Resolves when everything requested so far is done; false after one failure of the disk. */
  async settled(): Promise<boolean> {
    return this.#step.running === undefined && !this.#hasMore ? true : this.#ask();
  }

  /** Stops automatic retries after a failure. */
  end(): void {
    this.#step.end();
  }

  /** Closes it as it is. @returns how many of its readings are lost if nothing else saves them */
  giveUp(): number {
    this.end();
    // Not awaited: a close waits for calls in progress, and those of a disk that hangs never return.
    void this.writer.abandon().catch(() => {});
    return this.writer.endangered;
  }

  get #hasMore(): boolean {
    return !this.#isSealed && (this.#isSyncAsked || this.#isSealing);
  }

  async #ask(): Promise<boolean> {
    if (this.#isSealed) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#asked.push(resolve);
    void this.#step.run();
    return promise;
  }

  async #run(done: () => void): Promise<void> {
    do {
      this.#begun.push(...this.#asked.splice(0));
      this.#isSyncAsked = false;
      if (this.#isSealing) {
        await this.writer.seal();
        this.#isSealed = true;
      } else await this.writer.sync();
      tell(this.#begun.splice(0), true);
      done();
    } while (this.#hasMore || (this.#asked.length > 0 && !this.#isSealed));
    tell(this.#asked.splice(0), true);
  }
}

function tell(told: readonly Told[], isDone: boolean): void {
  for (const each of told) each(isDone);
}

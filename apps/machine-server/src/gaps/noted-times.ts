/**
 * Notes in a file the times between which readings may be taken: writes one note at a time, so that the newest one stays.
 *
 * Invariant: `covers` is true only for a time that the file covers, whichever of two notes a crash leaves. If writing notes fails or hangs,
 * and is not only late, it is true for all times: readings are worth more than a count of those that a crash may lose.
 */

/** Wall clock, µs. */
export interface Times {
  /** Readings captured before this time are safe. */
  readonly safeUs: number;
  /** Nothing is captured after this time. */
  readonly untilUs: number;
}

const nothing: Times = { safeUs: Number.POSITIVE_INFINITY, untilUs: Number.NEGATIVE_INFINITY };

export class NotedTimes {
  readonly #write: (times: Times) => Promise<void>;
  /** The last times to be noted. */
  #times = nothing;
  /** The times that a crash leaves: the narrower of a note that is being written and the previous one. */
  #covered = nothing;
  #isFailing = false;
  #isStale = false;
  #saving: Promise<void> | undefined;

  /** @param write replaces the note; after a failure, the content does not matter */
  constructor(write: (times: Times) => Promise<void>) {
    this.#write = write;
  }

  get last(): Times {
    return this.#times;
  }

  /** Until when readings may be taken if no further note is made; in the distant future if writing notes fails. */
  get untilUs(): number {
    return this.#isFailing ? Number.POSITIVE_INFINITY : this.#covered.untilUs;
  }

  /** The note that is being written takes so long that it may never be written. */
  hangs(): void {
    if (this.#saving !== undefined) this.#isFailing = true;
  }

  covers(us: number): boolean {
    return this.#isFailing || (us >= this.#covered.safeUs && us <= this.#covered.untilUs);
  }

  /** If several calls wait for a running write, only the last is written. */
  save(times: Times): Promise<void> {
    this.#times = times;
    this.#isStale = true;
    this.#saving ??= this.#saveAll().finally(() => {
      this.#saving = undefined;
    });
    return this.#saving;
  }

  /** Waits for the running write. */
  async settled(): Promise<void> {
    await this.#saving?.catch(() => {});
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
        throw caught;
      }
      this.#isFailing = false;
      this.#covered = times;
    }
  }
}

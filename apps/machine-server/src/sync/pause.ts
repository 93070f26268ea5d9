/**
 * A cloud that cannot be reached, or asks for time, gets no uploads until the wait is over, and then one at a time until one succeeds:
 * a file that fails for a reason of the cloud counts against no file (D15), and thousands of waiting files do not each find out by themselves.
 *
 * States: open → paused (a failure) → probing (the wait is over) → open (an answer) | paused, for longer.
 */
import { backoffMs } from '@platform/base';

const maxMs = 30_000;

export class Pause {
  readonly #random: () => number;
  #failures = 0;
  #until = 0;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** @param now monotonic ms @param askedMs how long the cloud asks to wait; it gets at most a fifth more, so that machines do not return in step */
  failed(now: number, askedMs: number | undefined): void {
    // Uploads that were under way together fail together: that is one failure.
    if (now < this.#until) return;
    this.#failures++;
    const waitMs =
      askedMs === undefined ? backoffMs(this.#failures, { maxMs }, this.#random) : askedMs * (1 + 0.2 * this.#random());
    this.#until = now + waitMs;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#until = 0;
  }

  isPaused(now: number): boolean {
    return now < this.#until;
  }

  /** Whether only one upload may be under way. */
  get isProbing(): boolean {
    return this.#failures > 0;
  }

  /** Monotonic ms at which the wait ends; undefined: nothing waits. */
  get until(): number | undefined {
    return this.#failures > 0 ? this.#until : undefined;
  }
}

/**
 * An unreachable cloud, or one that requests a wait, gets no uploads until the wait ends, and then one at a time until one succeeds. So a
 * failure caused by the cloud counts against no file (D15), and thousands of waiting files do not each try in vain.
 *
 * States: open → paused (a failure) → probing (the wait has ended) → open (an answer) | paused, for longer.
 */
import { backoffMs } from '@platform/base';

/** An upload follows the return of the network within this time even if no other call shows it first. */
const maxMs = 10_000;

export class Pause {
  readonly #random: () => number;
  #failures = 0;
  #until = 0;
  #isAsked = false;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /**
   * @param now monotonic ms @param askedMs the wait requested by the cloud; up to a fifth is added, so that machines do not all return at
   * once
   */
  failed(now: number, askedMs: number | undefined): void {
    // Simultaneous uploads fail together: that is one failure.
    if (now < this.#until) return;
    this.#failures++;
    const waitMs =
      askedMs === undefined ? backoffMs(this.#failures, { maxMs }, this.#random) : askedMs * (1 + 0.2 * this.#random());
    this.#until = now + waitMs;
    this.#isAsked = askedMs !== undefined;
  }

  /** The cloud was reached otherwise: the next upload may try now. A wait that the cloud requested stays. */
  retry(now: number): void {
    if (!this.#isAsked) this.#until = Math.min(this.#until, now);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#until = 0;
  }

  isPaused(now: number): boolean {
    return now < this.#until;
  }

  /** Whether only one upload may run at a time. */
  get isProbing(): boolean {
    return this.#failures > 0;
  }

  /** Monotonic ms at which the wait ends; undefined if there is no wait. */
  get until(): number | undefined {
    return this.#failures > 0 ? this.#until : undefined;
  }
}

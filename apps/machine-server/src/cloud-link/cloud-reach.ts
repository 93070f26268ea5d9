/**
 * Whether the cloud can be reached, as the calls of this machine show. Everything that waits before its next attempt waits here, so that the
 * first call that succeeds after failures ends all waits, as a change of the network does.
 *
 * States: reached → away (a call was not answered) → reached (one was answered: all waits end).
 */
import type { Clock } from '@platform/base';

/** After a change of the network, attempts may fail until addresses and routes are complete … */
const settlingMs = 15_000;
/** … and until then no wait is longer than this. */
const shortMs = 1_000;

export class CloudReach {
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  #isAway = false;
  #changedMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A call was answered, or it was not. */
  report(isAnswered: boolean): void {
    const isBack = isAnswered && this.#isAway;
    this.#isAway = !isAnswered;
    if (isBack) this.#retry();
  }

  /** The addresses of this computer have changed. */
  networkChanged(): void {
    this.#changedMs = this.#clock.monotonic();
    this.#retry();
  }

  /** @param listener called when waits end */
  onRetry(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Resolves after `ms`, when waits end, or when the signal is aborted. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    const isSettling = this.#clock.monotonic() - this.#changedMs < settlingMs;
    const over = new AbortController();
    const end = (): void => over.abort();
    if (signal.aborted) return;
    signal.addEventListener('abort', end);
    using _retry = this.onRetry(end);
    await this.#clock.sleep(isSettling ? Math.min(ms, shortMs) : ms, over.signal).catch(() => {});
    signal.removeEventListener('abort', end);
  }

  #retry(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

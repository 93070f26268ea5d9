import type { Clock } from './clock.ts';

/** Lets one waiter sleep until something has happened. */
export class Wakeup {
  readonly #clock: Clock;
  #wake = (): void => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Wakes the waiter; without one, nothing happens. */
  wake(): void {
    this.#wake();
  }

  /** Until `wake` is called, at most `waitMs`. @throws the reason of the signal */
  async wait(waitMs: number, signal: AbortSignal): Promise<void> {
    const nap = new AbortController();
    this.#wake = () => nap.abort();
    await this.#clock.sleep(waitMs, AbortSignal.any([signal, nap.signal])).catch(() => {});
    this.#wake = () => {};
    signal.throwIfAborted();
  }
}

/**
 * What waits for one reader: at most one update of each subscription. A source makes its next update when the last one was taken, so that a
 * slow reader gets the newest state less often, and nothing piles up.
 */
import type { Clock } from '@platform/base';

export class Slots<T> {
  readonly #clock: Clock;
  readonly #waiting = new Map<number, { readonly update: T; readonly taken: () => void }>();
  #wake = (): void => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves once the update was taken, or dropped. */
  put(id: number, update: T): Promise<void> {
    return new Promise((taken) => {
      this.#waiting.set(id, { update, taken });
      this.#wake();
    });
  }

  drop(id: number): void {
    this.#waiting.get(id)?.taken();
    this.#waiting.delete(id);
  }

  /** All that waits, as soon as there is anything; empty after `waitMs`. @throws the reason of the signal */
  async take(waitMs: number, signal: AbortSignal): Promise<readonly T[]> {
    if (this.#waiting.size === 0) {
      const nap = new AbortController();
      this.#wake = () => nap.abort();
      await this.#clock.sleep(waitMs, AbortSignal.any([signal, nap.signal])).catch(() => {});
      this.#wake = () => {};
      signal.throwIfAborted();
    }
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { taken } of all) taken();
    return all.map(({ update }) => update);
  }
}

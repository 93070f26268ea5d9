/**
 * Pending updates for one reader: at most one for each subscription. A source makes its next update when the last one has been taken, so
 * that a slow reader gets the newest state less often, and nothing piles up.
 */
import { type Clock, Wakeup } from '@platform/base';

export class Slots<T> {
  readonly #news: Wakeup;
  readonly #waiting = new Map<number, { readonly update: T; readonly taken: () => void }>();

  constructor(clock: Clock) {
    this.#news = new Wakeup(clock);
  }

  /** Resolves once the update has been taken or dropped. */
  put(id: number, update: T): Promise<void> {
    return new Promise((taken) => {
      this.#waiting.set(id, { update, taken });
      this.#news.wake();
    });
  }

  drop(id: number): void {
    this.#waiting.get(id)?.taken();
    this.#waiting.delete(id);
  }

  /** All pending updates, as soon as there are any; empty after `waitMs`. @throws the reason of the signal */
  async take(waitMs: number, signal: AbortSignal): Promise<readonly T[]> {
    if (this.#waiting.size === 0) await this.#news.wait(waitMs, signal);
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { taken } of all) taken();
    return all.map(({ update }) => update);
  }
}

/** A clock that advances only when a test advances it. */
import type { Clock } from '@platform/base';

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly fire: () => void;
}

export class FakeClock implements Clock {
  readonly #timers = new Set<Timer>();
  #wallMs: number;
  #elapsedMs = 0;
  #order = 0;

  /** @param startMs initial wall clock. Default 2026-01-01T00:00:00Z. */
  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#wallMs = startMs;
  }

  now(): number {
    return this.#wallMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = (): void => {
        this.#timers.delete(timer);
        reject(signal?.reason);
      };
      const timer = this.#add(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  after(ms: number, run: () => void): Disposable {
    const timer = this.#add(ms, run);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  every(periodMs: number, run: () => void): Disposable {
    let timer: Timer;
    const schedule = (): void => {
      timer = this.#add(periodMs, () => {
        schedule();
        run();
      });
    };
    schedule();
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  /** How many sleeps and periods are waiting. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Sets only the wall clock, as an operator or NTP does; sleeps are not affected. */
  setWall(ms: number): void {
    this.#wallMs = ms;
  }

  /**
   * Advances both clocks and fires everything due in order; the code that a timer wakes runs as far as it can before the next one fires.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsedMs + ms;
    await settled();
    for (;;) {
      let next: Timer | undefined;
      for (const timer of this.#timers) {
        const earlier = !next || timer.dueMs < next.dueMs || (timer.dueMs === next.dueMs && timer.order < next.order);
        if (timer.dueMs <= end && earlier) next = timer;
      }
      if (!next) break;
      this.#timers.delete(next);
      this.#move(next.dueMs);
      next.fire();
      await settled();
    }
    this.#move(end);
  }

  /**
   * Advances both clocks at once, as during the sleep of a computer: what became due fires once at the end. Of a period, `advance` fires every
   * time, which takes long for days.
   */
  async leap(ms: number): Promise<void> {
    await settled();
    this.#move(this.#elapsedMs + ms);
    const due = [...this.#timers].filter(({ dueMs }) => dueMs <= this.#elapsedMs);
    for (const timer of due.toSorted((a, b) => a.dueMs - b.dueMs || a.order - b.order)) {
      if (!this.#timers.delete(timer)) continue;
      timer.fire();
      await settled();
    }
  }

  #add(ms: number, fire: () => void): Timer {
    const timer = { dueMs: this.#elapsedMs + Math.max(0, ms), order: this.#order++, fire };
    this.#timers.add(timer);
    return timer;
  }

  #move(elapsedMs: number): void {
    this.#wallMs += Math.max(0, elapsedMs - this.#elapsedMs);
    this.#elapsedMs = Math.max(this.#elapsedMs, elapsedMs);
  }
}

/** Lets promises, and the event loop work that they start, run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

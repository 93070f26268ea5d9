/** A clock that only moves when a test moves it. */
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

  /** @param startMs wall clock at the beginning. Default 2026-01-01T00:00:00Z. */
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

  /** Steps the wall clock alone, as an operator or NTP does; sleeps do not notice. */
  setWall(ms: number): void {
    this.#wallMs = ms;
  }

  /** Moves both clocks, firing what falls due in order; what it wakes runs as far as it gets before the next fires. */
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

/** Lets promises, and what they start on the event loop, run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

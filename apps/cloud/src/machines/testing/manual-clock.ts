/** Two clocks that a test sets by hand; they have no timers. */
import type { Clock } from '@platform/base';

export class ManualClock implements Clock {
  wallMs: number = Date.UTC(2026, 0, 1);
  monotonicMs = 0;

  now(): number {
    return this.wallMs;
  }

  monotonic(): number {
    return this.monotonicMs;
  }

  pass(ms: number): void {
    this.wallMs += ms;
    this.monotonicMs += ms;
  }

  sleep(): Promise<void> {
    return Promise.reject(new Error('nothing waits on a clock that is set by hand'));
  }

  after(): Disposable {
    return { [Symbol.dispose]: () => {} };
  }

  every(): Disposable {
    return { [Symbol.dispose]: () => {} };
  }
}

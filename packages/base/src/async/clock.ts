/** Time as a port: code that waits or reads the time takes a Clock, so that tests can control it. */

export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

export interface Clock {
  /** Wall clock, milliseconds since 1970 UTC. */
  now(): number;
  /** Monotonic milliseconds; only differences are meaningful. */
  monotonic(): number;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` once, `ms` from now, unless it is disposed before. Cheaper than a sleep with a signal. */
  after(ms: number, run: () => void): Disposable;
  /** Calls `run` every `periodMs` without drift (missed ticks are dropped) until disposed. */
  every(periodMs: number, run: () => void): Disposable;
}

const maxTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(
        () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
        Math.min(ms, maxTimerMs),
      );
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, maxTimerMs));
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
  every(periodMs, run) {
    const start = performance.now();
    let tick = 0;
    let timer: NodeJS.Timeout;
    const schedule = (): void => {
      const elapsed = performance.now() - start;
      tick = Math.max(tick + 1, Math.ceil(elapsed / periodMs));
      arm();
    };
    const arm = (): void => {
      const waitMs = start + tick * periodMs - performance.now();
      // A delay longer than a timer can hold would make it fire at once, over and over.
      timer = waitMs > maxTimerMs ? setTimeout(arm, maxTimerMs) : setTimeout(fire, Math.max(0, waitMs));
    };
    const fire = (): void => {
      schedule();
      run();
    };
    schedule();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

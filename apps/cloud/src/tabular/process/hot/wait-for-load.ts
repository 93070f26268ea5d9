/** Queries that wait until the rows up to a position of the log are loaded (I7). */
import { PlatformError } from '@platform/base';

export interface LoadWaiters {
  /** Resolves when rows up to the position are loaded; rejects when the signal is aborted first. */
  reach(position: number, signal: AbortSignal): Promise<void>;
  /** Must be called after each load. */
  wake(): void;
}

/** @param loaded the last position that is loaded */
export function createLoadWaiters(loaded: () => number): LoadWaiters {
  const waiting = new Set<{ readonly position: number; readonly resolve: () => void }>();
  return {
    reach(position, signal) {
      if (loaded() >= position) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const waiter = { position, resolve: done };
        function done(): void {
          signal.removeEventListener('abort', aborted);
          resolve();
        }
        function aborted(): void {
          waiting.delete(waiter);
          const text = `the rows up to log position ${position} were not loaded in time (loaded: ${loaded()}); try again`;
          reject(
            signal.reason instanceof PlatformError && signal.reason.code === 'deadline_exceeded'
              ? new PlatformError('deadline_exceeded', text)
              : signal.reason,
          );
        }
        waiting.add(waiter);
        if (signal.aborted) return aborted();
        signal.addEventListener('abort', aborted, { once: true });
      });
    },
    wake() {
      for (const waiter of waiting) {
        if (waiter.position > loaded()) continue;
        waiting.delete(waiter);
        waiter.resolve();
      }
    },
  };
}

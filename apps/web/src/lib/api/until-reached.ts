/** Asks the cloud until it answers: for what a page or a dialog cannot do without, and would otherwise miss after a restart of the cloud. */
import { type Problem, problemOf } from './problem.ts';

const pauseMs = 2_000;

/**
 * @param away called after each attempt that the cloud did not answer
 * @param pause default: 2 s. Rejects when `signal` ends
 * @returns the answer. @throws what the cloud answers instead; the reason of the signal
 */
export async function untilReached<T>(
  ask: () => Promise<T>,
  {
    away,
    signal,
    pause = sleep,
  }: {
    readonly away: (problem: Problem) => void;
    readonly signal: AbortSignal;
    readonly pause?: (signal: AbortSignal) => Promise<void>;
  },
): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await ask();
    } catch (caught) {
      const problem = problemOf(caught);
      if (!problem.isAway) throw caught;
      away(problem);
      await pause(signal);
    }
  }
}

async function sleep(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const ended = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', ended);
      resolve();
    }, pauseMs);
    signal.addEventListener('abort', ended, { once: true });
  });
}

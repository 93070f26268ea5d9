/** Ends a wait that takes too long. */
import type { Clock } from '@platform/base';

/** Undefined: it took longer. The signal passed to `work` is then aborted. */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const stop = new AbortController();
  try {
    const both = AbortSignal.any([signal, stop.signal]);
    const result = work(both);
    // The loser of the race is ignored.
    result.catch(() => {});
    const late = clock.sleep(ms, both).then(() => undefined);
    late.catch(() => {});
    return await Promise.race([result, late]);
  } finally {
    stop.abort();
  }
}

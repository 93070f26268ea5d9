/**
 * Ends queries before the process has more memory than it may use, when the system would end it with all others. The heaps of the threads and
 * DuckDB have their own limits; what they pass to each other, such as rows that a thread keeps, counts only here.
 */
import { type Clock, harmless, type PlatformError } from '@platform/base';
import { outOfMemory } from './query-failure.ts';

/** A query can take some megabytes within this time. */
const lookMs = 10;
/** Memory that earlier queries left may not be given back yet: only a query that takes more is ended. */
const leastGrowthBytes = 48 << 20;

export interface MemoryGuard {
  /** Watches until disposed. @param end ends the query */
  watch(end: (reason: PlatformError) => void): Disposable;
}

/** @param processBytes that the process may use. @param usedBytes that it uses now */
export function createMemoryGuard(
  processBytes: number,
  usedBytes: () => number,
  clock: Pick<Clock, 'every'>,
): MemoryGuard {
  return {
    watch(end) {
      // Not limited.
      if (processBytes === Number.POSITIVE_INFINITY) return { [Symbol.dispose]: () => {} };
      let before: number | undefined;
      const look = (): void => {
        const used = usedBytes();
        before ??= used;
        if (used > processBytes && used - before > leastGrowthBytes)
          end(outOfMemory(new Error(`the process uses ${used} of ${processBytes} bytes, ${before} before the query`)));
      };
      // Without a descriptor left, the system does not tell.
      const guarded = harmless(look);
      guarded();
      return clock.every(lookMs, guarded);
    },
  };
}

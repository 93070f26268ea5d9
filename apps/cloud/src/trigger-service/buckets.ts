/** Allows each key some calls at once, and then one per interval. In memory: a restart fills all buckets. */
import type { Clock } from '@platform/base';

export interface Buckets {
  /** Takes one call. @returns 0, or the wait in ms if the bucket is empty */
  take(key: string): number;
}

const maxKeys = 10_000;

export function createBuckets(clock: Clock, { most, everyMs }: { most: number; everyMs: number }): Buckets {
  /** When the bucket of a key is full again, monotonic ms. */
  const fullAt = new Map<string, number>();
  return {
    take(key) {
      const nowMs = clock.monotonic();
      const at = Math.max(fullAt.get(key) ?? 0, nowMs) + everyMs;
      const waitMs = at - nowMs - most * everyMs;
      if (waitMs > 0) return waitMs;
      if (fullAt.size >= maxKeys) for (const [other, full] of fullAt) if (full <= nowMs) fullAt.delete(other);
      fullAt.set(key, at);
      return 0;
    },
  };
}

/** Caches answers of the store for a short time, because fleets poll their configurations. */
import type { Clock } from '@platform/base';

/** R16 allows 5 s until the end of a secret or key takes effect everywhere. */
const ttlMs = 4_000;

/** Reads each key at most once in 4 s; failed reads are not cached. */
export function ttlCache<T>(clock: Clock, read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const kept = new Map<string, { readonly untilMs: number; readonly answer: Promise<T> }>();
  return (key) => {
    const nowMs = clock.monotonic();
    const found = kept.get(key);
    if (found !== undefined && found.untilMs > nowMs) return found.answer;
    const answer = read(key);
    kept.set(key, { untilMs: nowMs + ttlMs, answer });
    answer.catch(() => kept.delete(key));
    return answer;
  };
}

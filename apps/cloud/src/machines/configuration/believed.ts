/** Answers of the store that are believed for a while without asking it again: fleets poll their configurations. */
import type { Clock } from '@platform/base';

/** R16 grants 5 s until the end of a secret or a key is known everywhere. */
const ttlMs = 4_000;

/** Reads once for each key and 4 s; a read that fails is not kept. */
export function believed<T>(clock: Clock, read: (key: string) => Promise<T>): (key: string) => Promise<T> {
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

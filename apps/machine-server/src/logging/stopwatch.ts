/** Durations of steps, as fields of lines at debug. */
import type { Clock } from '@platform/base';

/** @returns the milliseconds since this call, rounded to microseconds */
export function stopwatch(clock: Pick<Clock, 'monotonic'>): () => { readonly durationMs: number } {
  const fromMs = clock.monotonic();
  return () => ({ durationMs: Math.round((clock.monotonic() - fromMs) * 1_000) / 1_000 });
}

import type { Clock } from '@platform/base';

/** Wall clock in whole microseconds since 1970 UTC: the system's milliseconds, refined by the monotonic clock. */
export function createWallMicros(clock: Clock): () => number {
  let offsetMs = clock.now() - clock.monotonic();
  return () => {
    const monotonicMs = clock.monotonic();
    const wallMs = clock.now();
    // The wall clock was set, or the refinement has drifted: start again from the wall clock.
    if (Math.abs(monotonicMs + offsetMs - wallMs) > 2) offsetMs = wallMs - monotonicMs;
    return Math.floor((monotonicMs + offsetMs) * 1_000);
  };
}

import type { Clock } from '@platform/base';

/** Wall clock in ms with fractions: the monotonic clock, re-anchored to the wall clock whenever the two drift apart. */
export function createPreciseNow(clock: Clock): () => number {
  let anchorMs = clock.now() - clock.monotonic();
  return () => {
    const wallMs = clock.now();
    const preciseMs = anchorMs + clock.monotonic();
    // The wall clock counts whole ms: the clocks agree if the precise time is less than 1 ms above it.
    if (preciseMs >= wallMs && preciseMs < wallMs + 1) return preciseMs;
    anchorMs += preciseMs < wallMs ? wallMs - preciseMs : wallMs + 0.999 - preciseMs;
    return anchorMs + clock.monotonic();
  };
}

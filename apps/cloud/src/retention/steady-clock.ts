/**
 * Whether the wall clock can be trusted for irreversible actions. If a machine's clock jumps ahead by years, data is hidden until the clock
 * is corrected, but it must not be removed.
 */
import type { Clock } from '@platform/base';

/** Ordinary clock corrections are smaller. */
const maxDriftMs = 60_000;

/** @returns a function: has the clock run without a jump for `settleMs`, judging by its earlier calls? */
export function createSteadyClock(clock: Pick<Clock, 'now' | 'monotonic'>, settleMs: number): () => boolean {
  let seen = { wallMs: clock.now(), monotonicMs: clock.monotonic() };
  let since = seen.monotonicMs;
  return () => {
    const now = { wallMs: clock.now(), monotonicMs: clock.monotonic() };
    const driftMs = now.wallMs - seen.wallMs - (now.monotonicMs - seen.monotonicMs);
    if (Math.abs(driftMs) > maxDriftMs) since = now.monotonicMs;
    seen = now;
    return now.monotonicMs - since >= settleMs;
  };
}

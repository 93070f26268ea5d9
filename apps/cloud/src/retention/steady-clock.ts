/**
 * Whether the wall clock can be trusted with what cannot be undone: a machine whose clock jumps ahead by years hides data, which comes
 * back when the clock does, but must not remove it.
 */
import type { Clock } from '@platform/base';

/** A clock that is corrected moves by less. */
const maxDriftMs = 60_000;

/** @returns a question: has the clock gone on without a jump for `settleMs`, as far as earlier questions saw it? */
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

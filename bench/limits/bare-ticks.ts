/**
 * What the computer itself lets a collector take: a bare timer on the grid of a frequency, which does nothing with its ticks. Like a
 * collector, it makes up for 20 ms of a stall, and for one tick below 50 Hz.
 */
const madeUpMs = 20;

export interface BareTicks {
  /** Share of the ticks that were taken, and the longest time between two. */
  stop(): { readonly percent: number; readonly longestMs: number };
}

export function startBareTicks(hz: number): BareTicks {
  const periodMs = 1_000 / hz;
  const most = Math.max(1, Math.floor(madeUpMs / periodMs));
  const startedMs = performance.now();
  let [passed, taken, lastMs, longestMs] = [0, 0, startedMs, 0];
  const fire = (): void => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    // A timer may fire up to a millisecond early.
    const due = Math.floor((nowMs - startedMs + 1) / periodMs) - passed;
    taken += Math.min(most, due);
    passed += due;
    timer = setTimeout(fire, Math.max(1, Math.ceil((passed + 1) * periodMs - (performance.now() - startedMs))));
  };
  let timer = setTimeout(fire, periodMs);
  return {
    stop() {
      clearTimeout(timer);
      return { percent: (taken / Math.max(1, passed)) * 100, longestMs };
    },
  };
}

import type { Clock } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createTicker } from './ticker.ts';

/** A clock whose timers fire when the test says so, at the time it says. */
function handClock(): Clock & { fireAt(ms: number): void } {
  let nowMs = 0;
  let fire = (): void => {};
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    sleep: () => Promise.resolve(),
    after: (_ms, run) => {
      fire = run;
      return { [Symbol.dispose]: () => {} };
    },
    every: () => ({ [Symbol.dispose]: () => {} }),
    fireAt(ms) {
      nowMs = ms;
      fire();
    },
  };
}

function taken(hz: number, fires: readonly number[]): number {
  const clock = handClock();
  let sum = 0;
  using _task = createTicker(clock).add(hz, (due) => {
    sum += due;
  });
  for (const ms of fires) clock.fireAt(ms);
  return sum;
}

test('a timer that fires early or late triggers each reading once', () => {
  expect(taken(100, [9.2, 20.6, 29.4, 40.1, 49.2])).toBe(5);
  expect(taken(1_000, [4.6, 10.3, 14.8, 20])).toBe(20);
  expect(taken(0.5, [1_999.1, 4_000.4])).toBe(2);
});

test('a timer waits for whole milliseconds, at least until the next reading is due', () => {
  for (const hz of [100, 30, 7]) {
    const waits: number[] = [];
    const clock = handClock();
    const after = (ms: number, run: () => void): Disposable => {
      waits.push(ms);
      return clock.after(ms, run);
    };
    using _task = createTicker({ ...clock, after }).add(hz, () => {});
    for (const ms of [10.3, 12.6, 40.9, 1_000.4]) {
      clock.fireAt(ms);
      const dueInMs = 1_000 / hz - (ms % (1_000 / hz));
      expect(waits.at(-1)).toBe(Math.ceil(dueInMs));
    }
  }
});

test('readings missed during a stall are not made up all at once', () => {
  expect(taken(1, [1_000, 50_000])).toBe(2);
  expect(taken(100, [10, 500])).toBe(3);
  expect(taken(1_000, [5, 500])).toBe(15);
});

test('every tick of the grid is due or counted as missed, also through stalls; steps of the wall clock change nothing', () => {
  for (const hz of [1_000, 100, 7, 1]) {
    const clock = handClock();
    const wall = { ...clock, now: () => clock.now() + (clock.now() > 3_000 ? 1e11 : 0) };
    let sum = 0;
    using _task = createTicker(wall).add(hz, (due, missed) => {
      sum += due + missed;
    });
    for (const ms of [1, 40, 41, 2_000, 2_400, 9_000, 60_000]) clock.fireAt(ms);
    expect(sum).toBe(60 * hz);
  }
});

test('a reconfigured collector keeps its ticks; a daily one starts at midnight UTC, not a day after the start', async () => {
  const clock = new FakeClock(Date.UTC(2026, 0, 1, 23, 59, 50));
  const ticker = createTicker(clock);
  const times: number[] = [];
  const tick = (): void => void times.push(Math.round(clock.now()) % 86_400_000);
  using _daily = ticker.add(1 / 86_400, tick);
  await clock.advance(15_000);
  expect(times).toEqual([0]);
  times.length = 0;
  for (const [at, restart] of [0.3, 0.9, 1.4].entries()) {
    using _each = ticker.add(1, tick);
    await clock.advance((restart - ([0.3, 0.9, 1.4][at - 1] ?? 0)) * 1_000);
  }
  expect(times).toEqual([6_000]);
});

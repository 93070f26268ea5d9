import type { Clock } from '@platform/base';
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
    after: () => ({ [Symbol.dispose]: () => {} }),
    every: (_periodMs, run) => {
      fire = run;
      return { [Symbol.dispose]: () => {} };
    },
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

test('readings missed during a stall are not made up all at once', () => {
  expect(taken(1, [1_000, 50_000])).toBe(2);
  expect(taken(100, [10, 500])).toBe(3);
  expect(taken(1_000, [5, 500])).toBe(15);
});

import { expect, test } from 'vitest';
import { systemClock } from '../async/clock.ts';
import { trimWhenIdle } from './trim-memory.ts';

/** A clock whose only timer is called by hand. */
function handClock(monotonic = systemClock.monotonic) {
  const timer = { tick: (): void => {} };
  const every = (_: number, run: () => void): Disposable => {
    timer.tick = run;
    return {
      [Symbol.dispose]: () => {
        timer.tick = () => {};
      },
    };
  };
  return { clock: { ...systemClock, every, monotonic }, timer };
}

/** A process whose CPU time and memory the test sets. */
function resting({ once = false, leastMs = 0, monotonic = systemClock.monotonic } = {}) {
  const { clock, timer } = handClock(monotonic);
  const state = { worked: 0, megabytes: 50, collected: 0 };
  const collect = (): void => {
    state.collected++;
    state.megabytes = 50;
  };
  const trim = trimWhenIdle({
    clock,
    ...{ once, leastMs },
    workedMs: () => state.worked,
    residentBytes: () => state.megabytes * 2 ** 20,
    collect,
  });
  const look = (workedMs: number, megabytes: number): void => {
    state.worked += workedMs;
    state.megabytes += megabytes;
    timer.tick();
  };
  return { state, look, trim };
}

test('memory is released once after a busy period', () => {
  const { state, look, trim } = resting();
  look(4_000, 60);
  look(3_000, 10);
  expect(state.collected).toBe(0);
  look(10, 0);
  expect(state.collected).toBe(1);
  for (let i = 0; i < 10; i++) look(10, 0);
  expect(state.collected).toBe(1);
  trim[Symbol.dispose]();
});

test('memory that a quiet process accumulates is released too; a busy process is left alone', () => {
  const { state, look, trim } = resting();
  look(10, 0);
  expect(state.collected).toBe(1);
  for (let i = 0; i < 15; i++) look(100, 1);
  expect(state.collected).toBe(1);
  look(100, 1);
  expect(state.collected).toBe(2);
  for (let i = 0; i < 50; i++) look(600, 10);
  expect(state.collected).toBe(2);
  trim[Symbol.dispose]();
  look(0, 0);
  expect(state.collected).toBe(2);
});

test('memory needed only for the start is released once, when the process is first idle, and never again', () => {
  const { state, look } = resting({ once: true });
  look(4_000, 60);
  expect(state.collected).toBe(0);
  look(10, 0);
  expect(state.collected).toBe(1);
  look(4_000, 60);
  look(10, 0);
  expect(state.collected).toBe(1);
});

test('the collection returns pages that V8 would keep', () => {
  const { clock, timer } = handClock();
  let worked = 0;
  trimWhenIdle({ clock, workedMs: () => worked });
  let held: unknown[] = [];
  for (let i = 0; i < 1_000_000; i++) held.push({ i, list: [i] });
  const before = process.memoryUsage.rss();
  held = [];
  worked = 5_000;
  timer.tick();
  timer.tick();
  expect(held).toEqual([]);
  expect(process.memoryUsage.rss()).toBeLessThan(before - 32 * 1024 * 1024);
});

test('no memory is released while the process may not pause; afterwards it is', () => {
  const { clock, timer } = handClock();
  let [mayPause, collected] = [false, 0];
  const trim = trimWhenIdle({
    ...{ clock, workedMs: () => 0, residentBytes: () => 50 * 2 ** 20, mayPause: () => mayPause },
    collect: () => {
      collected++;
    },
  });
  timer.tick();
  expect(collected).toBe(0);
  mayPause = true;
  timer.tick();
  expect(collected).toBe(1);
  trim[Symbol.dispose]();
});

test('a process that must not pause often collects no sooner than it says', () => {
  let nowMs = 0;
  const { state, look, trim } = resting({ leastMs: 60_000, monotonic: () => nowMs });
  look(10, 0);
  expect(state.collected).toBe(1);
  nowMs = 59_999;
  look(10, 40);
  expect(state.collected).toBe(1);
  nowMs = 60_000;
  look(10, 0);
  expect(state.collected).toBe(2);
  trim[Symbol.dispose]();
});

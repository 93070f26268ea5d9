import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { trimAtRest } from './trim-memory.ts';

const looks = 5_000;

/** A process that says how much it computed. */
function resting() {
  const clock = new FakeClock();
  const state = { worked: 0, collected: 0 };
  const trim = trimAtRest({ clock, workedMs: () => state.worked, collect: () => state.collected++ });
  const look = async (workedMs: number): Promise<void> => {
    state.worked += workedMs;
    await clock.advance(looks);
  };
  return { state, look, trim };
}

test('memory is given back once, when a busy time is over', async () => {
  const { state, look, trim } = resting();
  await look(4_000);
  await look(3_000);
  expect(state.collected).toBe(0);
  await look(10);
  expect(state.collected).toBe(1);
  for (let i = 0; i < 10; i++) await look(10);
  expect(state.collected).toBe(1);
  trim[Symbol.dispose]();
});

test('what a quiet process takes bit by bit is given back too; a busy one is left alone', async () => {
  const { state, look, trim } = resting();
  for (let i = 0; i < 10; i++) await look(100);
  expect(state.collected).toBe(1);
  for (let i = 0; i < 50; i++) await look(600);
  expect(state.collected).toBe(1);
  trim[Symbol.dispose]();
  await look(0);
  expect(state.collected).toBe(1);
});

test('the collection gives pages back that V8 would keep', () => {
  let look = (): void => {};
  const clock = Object.assign(new FakeClock(), {
    every: (_: number, run: () => void) => {
      look = run;
      return { [Symbol.dispose]: () => {} };
    },
  });
  let worked = 0;
  trimAtRest({ clock, workedMs: () => worked });
  let held: unknown[] = [];
  for (let i = 0; i < 1_000_000; i++) held.push({ i, list: [i] });
  const before = process.memoryUsage.rss();
  held = [];
  worked = 5_000;
  look();
  look();
  expect(held).toEqual([]);
  expect(process.memoryUsage.rss()).toBeLessThan(before - 32 * 1024 * 1024);
});

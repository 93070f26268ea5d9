import { expect, test } from 'vitest';
import { FakeClock } from './fake-clock.ts';

test('sleeps and periods fire in order of their time, interleaved with what they wake', async () => {
  const clock = new FakeClock(1_000);
  const seen: string[] = [];
  using _ = clock.every(100, () => seen.push(`tick ${clock.now()}`));
  void clock.sleep(150).then(async () => {
    seen.push(`slept ${clock.now()}`);
    await clock.sleep(60);
    seen.push(`slept again ${clock.now()}`);
  });
  await clock.advance(300);
  expect(seen).toEqual(['tick 1100', 'slept 1150', 'tick 1200', 'slept again 1210', 'tick 1300']);
  expect([clock.now(), clock.monotonic()]).toEqual([1_300, 300]);
});

test('an aborted sleep rejects with the reason and is forgotten; a wall clock that jumps does not affect sleeps', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const sleep = clock.sleep(1_000, stop.signal);
  clock.setWall(0);
  await clock.advance(999);
  expect(clock.waiting).toBe(1);
  stop.abort(new Error('enough'));
  await expect(sleep).rejects.toThrow('enough');
  await expect(clock.sleep(1, stop.signal)).rejects.toThrow('enough');
  expect(clock.waiting).toBe(0);
});

test('a leap fires once what became due, like the end of a sleep of the computer', async () => {
  const clock = new FakeClock();
  const seen: string[] = [];
  using _ = clock.every(100, () => seen.push(`tick ${clock.monotonic()}`));
  void clock.sleep(150).then(() => seen.push(`slept ${clock.monotonic()}`));
  await clock.leap(1_000);
  expect(seen).toEqual(['tick 1000', 'slept 1000']);
  await clock.advance(100);
  expect(seen.at(-1)).toBe('tick 1100');
});

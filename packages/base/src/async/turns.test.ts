import { expect, test } from 'vitest';
import { runInTurns, runToEnd, type Steps } from './turns.ts';

function* counting(count: number, onStep: () => void = () => {}): Steps<number> {
  let done = 0;
  for (; done < count; done++) {
    onStep();
    yield;
  }
  return done;
}

/** Steps that each take about 1 ms of processor time. */
function* slow(count: number): Steps<void> {
  for (let step = 0; step < count; step++) {
    const until = performance.now() + 1;
    while (performance.now() < until);
    yield;
  }
}

test('D48 a long computation leaves the event loop to others between its slices', async () => {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await runInTurns(slow(100));
  isOver = true;
  // Each slice is at most a few steps longer than its 5 ms.
  expect(turns).toBeGreaterThan(5);
});

test('D48 long computations advance together, whoever began first', async () => {
  const ended: string[] = [];
  const run = async (name: string, steps: Steps<unknown>): Promise<void> => {
    await runInTurns(steps);
    ended.push(name);
  };
  await Promise.all([run('long', slow(200)), run('short', slow(20)), run('tiny', counting(1))]);
  expect(ended).toEqual(['tiny', 'short', 'long']);
});

test('what fits into a slice is done at once, and errors are passed on', async () => {
  await new Promise((resolve) => setImmediate(resolve));
  let steps = 0;
  const result = runInTurns(counting(3, () => steps++));
  expect(steps).toBe(3);
  expect(await result).toBe(3);
  expect(runToEnd(counting(5))).toBe(5);
  function* failing(): Steps<void> {
    yield;
    throw new Error('step failed');
  }
  await expect(runInTurns(failing())).rejects.toThrow('step failed');
});

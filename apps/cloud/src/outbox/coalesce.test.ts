import { expect, test } from 'vitest';
import { coalesce } from './coalesce.ts';

test('requests made during a run are served together, up to a limit; a failure affects only those that it served', async () => {
  const done: string[][] = [];
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const ask = coalesce(async (all: readonly string[]) => {
    const gate = gates[done.length]?.promise;
    done.push([...all]);
    await gate;
    if (all.includes('bad')) throw new Error('bad');
    return all.length;
  }, 3);
  const first = ask('a');
  expect(done).toEqual([['a']]);
  const rest = ['b', 'bad', 'c', 'd', 'e'].map((one) => ask(one));
  const outcomes = Promise.allSettled(rest);
  for (const gate of gates) gate.resolve();
  expect(await first).toBe(1);
  expect((await outcomes).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect(done).toEqual([['a'], ['b', 'bad', 'c'], ['d', 'e']]);
  expect(await ask('f')).toBe(1);
});

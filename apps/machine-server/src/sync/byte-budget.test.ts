import { expect, test } from 'vitest';
import { ByteBudget } from './byte-budget.ts';

test('bytes in memory stay below the limit, in order; a request above the limit runs alone', async () => {
  const budget = new ByteBudget(10);
  const started: number[] = [];
  const held = new Map<number, Disposable>();
  const take = async (bytes: number): Promise<void> => {
    const taken = await budget.take(bytes);
    started.push(bytes);
    held.set(bytes, taken);
  };
  const all = [4, 6, 25, 1].map(take);
  await Promise.all(all.slice(0, 2));
  expect(started).toEqual([4, 6]);
  held.get(4)?.[Symbol.dispose]();
  await Promise.resolve();
  expect(started).toEqual([4, 6]);
  held.get(6)?.[Symbol.dispose]();
  await all[2];
  expect(started).toEqual([4, 6, 25]);
  held.get(25)?.[Symbol.dispose]();
  await all[3];
  expect(started).toEqual([4, 6, 25, 1]);
});

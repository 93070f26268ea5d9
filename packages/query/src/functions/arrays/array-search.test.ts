import { expect, test } from 'vitest';
import { codeOf, evaluate } from '../../testing/evaluate.ts';

test('$in finds the same in a constant list as in one from the row: numbers by value, arrays as elements, missing never', async () => {
  const list = [1, 2.5, [3], null, 'x'];
  const within = (a: unknown): Promise<unknown[]> =>
    Promise.all([evaluate({ $in: ['$a', list] }, { a }), evaluate({ $in: ['$a', '$list'] }, { a, list })]);
  for (const a of [1n, 2.5, [3], null, 'x']) expect(await within(a), String(a)).toEqual([true, true]);
  for (const a of [3, 'X', [1]]) expect(await within(a), String(a)).toEqual([false, false]);
  expect(await evaluate({ $in: ['$missing', list] })).toBe(false);
  expect(await codeOf({ $in: ['$a', 5] })).toBe(40081);
});

test('$indexOfArray in a constant that is not an array is refused before any row', async () => {
  expect(await codeOf({ $indexOfArray: [5, '$a'] }, { a: 5 })).toBe(50809);
  expect(await codeOf({ $indexOfArray: [5, 5] })).toBe(40090);
  expect(await codeOf({ $indexOfArray: ['$a', 5] }, { a: 5 })).toBe(40090);
});

import { expect, test } from 'vitest';
import { Int32 } from '../../bson/value.ts';
import { codeOf, evaluate } from '../../testing/evaluate.ts';
import { bson, doc } from '../../testing/run.ts';

test('the first and last of an empty array are missing, of null are null, of a text are an error', async () => {
  for (const end of ['$first', '$last']) {
    const taken = { [end]: '$a' };
    expect(await evaluate(taken, { a: [] })).toBe(undefined);
    expect(await evaluate(taken, { a: null })).toBe(null);
    expect(await codeOf(taken, { a: 'x' })).toBe(28689);
    expect(await codeOf({ [end]: [] })).toBe(16020);
  }
});

test('$concatArrays: the first null decides, unless a non-array comes before it', async () => {
  expect(await evaluate({ $concatArrays: [[1], '$a', [2]] }, { a: [] })).toEqual(bson([1, 2]));
  expect(await evaluate({ $concatArrays: ['$missing', '$x'] }, { x: 'text' })).toBe(null);
  expect(await codeOf({ $concatArrays: ['$x', '$missing'] }, { x: 'text' })).toBe(28664);
});

test('$indexOfArray: bounds, equality across numeric types, and missing, which is not null', async () => {
  const index = (...args: unknown[]): Promise<unknown> => evaluate({ $indexOfArray: args }, { a: [1, 2, 1, null] });
  expect(await index('$a', 1n)).toEqual(new Int32(0));
  expect(await index('$a', 1, 1)).toEqual(new Int32(2));
  expect(await index('$a', 1, 1, 2)).toEqual(new Int32(-1));
  expect(await index('$a', '$missing')).toEqual(new Int32(-1));
  expect(await codeOf({ $indexOfArray: ['$a', 1, 0.5] }, { a: [] })).toBe(9711600);
  expect(await codeOf({ $indexOfArray: ['$a', 1, -1] }, { a: [] })).toBe(9711601);
});

test('$range counts down with a negative step, excludes the end, and is refused before it is too large', async () => {
  expect(await evaluate({ $range: ['$to', 0, -2] }, { to: 5 })).toEqual(bson([5, 3, 1]));
  expect(await evaluate({ $range: [0, 0] })).toEqual([]);
  expect(await codeOf({ $range: [0, 10, 0] })).toBe(34449);
  expect(await codeOf({ $range: [0, 2147483647] })).toBe(10334);
});

test('$zip: the shortest decides, or the longest with defaults', async () => {
  const row = { a: [1, 2, 3], b: ['x'] };
  expect(await evaluate({ $zip: { inputs: ['$a', '$b'] } }, row)).toEqual(bson([[1, 'x']]));
  const longest = { inputs: ['$a', '$b'], useLongestLength: true };
  expect(await evaluate({ $zip: longest }, row)).toEqual(
    bson([
      [1, 'x'],
      [2, null],
      [3, null],
    ]),
  );
  expect(await evaluate({ $zip: { ...longest, defaults: [0, '-'] } }, row)).toEqual(
    bson([
      [1, 'x'],
      [2, '-'],
      [3, '-'],
    ]),
  );
  expect(await codeOf({ $zip: { inputs: ['$a'], defaults: [0] } }, row)).toBe(34466);
  expect(await codeOf({ $zip: { ...longest, defaults: [0] } }, row)).toBe(34467);
  expect(await codeOf({ $zip: { inputs: [] } }, row)).toBe(34465);
});

test('$sortArray: by value or by fields, stable, missing first', async () => {
  const items = [{ k: 2, n: 'a' }, { n: 'b' }, { k: 1, n: 'c' }, { k: 2, n: 'd' }];
  const sorted = await evaluate({ $sortArray: { input: '$items', sortBy: { k: -1 } } }, { items });
  expect(sorted).toEqual([items[0], items[3], items[2], items[1]].map((item) => doc(item!)));
  expect(await evaluate({ $sortArray: { input: '$a', sortBy: -1 } }, { a: [1, 'x', 3] })).toEqual(bson(['x', 3, 1]));
  const deep = [{ k: [{ n: 2 }] }, { k: [{ n: 1 }] }];
  expect(await evaluate({ $sortArray: { input: '$deep', sortBy: { 'k.n': 1 } } }, { deep })).toEqual(bson(deep));
  expect(await evaluate({ $sortArray: { input: '$deep', sortBy: { 'k.0.n': 1 } } }, { deep })).toEqual(
    bson(deep.toReversed()),
  );
  expect(await codeOf({ $sortArray: { input: '$a', sortBy: 2 } })).toBe(2942506);
  expect(await codeOf({ $sortArray: { input: '$a', sortBy: {} } })).toBe(2942505);
  expect(await codeOf({ $sortArray: { input: '$a', sortBy: 'k' } })).toBe(2942507);
});

test('the limit of $filter is not evaluated if there is nothing to filter', async () => {
  const some = { $filter: { input: '$a', cond: true, limit: -1 } };
  expect(await evaluate(some, { a: null })).toBe(null);
  expect(await evaluate(some, { a: [] })).toEqual([]);
  expect(await codeOf(some, { a: 5 })).toBe(28651);
  expect(await codeOf(some, { a: [1] })).toBe(327392);
});

import { expect, test } from 'vitest';
import { Int32 } from '../bson/value.ts';
import { codeOf, evaluate } from '../testing/evaluate.ts';
import { bson } from '../testing/run.ts';

test('a single array argument gives its elements; among other arguments an array is not a number', async () => {
  const row = { a: [1, 2, [3], 'x'], n: 4 };
  expect(await evaluate({ $sum: '$a' }, row)).toEqual(new Int32(3));
  expect(await evaluate({ $sum: ['$a'] }, row)).toEqual(new Int32(3));
  expect(await evaluate({ $sum: ['$a', '$n'] }, row)).toEqual(new Int32(4));
  expect(await evaluate({ $max: ['$a', '$n'] }, row)).toEqual(bson([1, 2, [3], 'x']));
  expect(await evaluate({ $min: [] }, row)).toBe(null);
  expect(await evaluate({ $avg: ['$missing', 'x'] }, row)).toBe(null);
  expect(await evaluate({ $stdDevPop: [1, 3] }, row)).toBe(1);
  expect(await evaluate({ $stdDevSamp: 1 }, row)).toBe(null);
});

test('$firstN keeps null, $maxN does not; n may come from the row', async () => {
  const row = { a: [null, 3, 1, 2], n: 2 };
  expect(await evaluate({ $firstN: { n: '$n', input: '$a' } }, row)).toEqual(bson([null, 3]));
  expect(await evaluate({ $lastN: { n: 9223372036854775807n, input: '$a' } }, row)).toEqual(bson([null, 3, 1, 2]));
  expect(await evaluate({ $maxN: { n: 9, input: '$a' } }, row)).toEqual(bson([3, 2, 1]));
  expect(await codeOf({ $minN: { n: '$a', input: '$a' } }, row)).toBe(5787902);
  expect(await codeOf({ $minN: { n: 1.5, input: '$a' } }, row)).toBe(5787903);
  expect(await codeOf({ $minN: { n: 0, input: '$a' } }, row)).toBe(5787908);
  expect(await codeOf({ $minN: { n: 1, input: '$n' } }, row)).toBe(5788200);
  expect(await codeOf({ $minN: { n: 1 } }, row)).toBe(5787907);
});

test('$median and $percentile take an array or a value, even inside $map', async () => {
  const row = { a: [5, 1, 'x', 3], lists: [[1, 2, 3], [], 7] };
  expect(await evaluate({ $median: { input: '$a', method: 'approximate' } }, row)).toBe(3);
  expect(await evaluate({ $percentile: { input: '$a', p: [0, 1], method: 'approximate' } }, row)).toEqual([1, 5]);
  const each = { $map: { input: '$lists', in: { $median: { input: '$$this', method: 'approximate' } } } };
  expect(await evaluate(each, row)).toEqual([2, null, 7]);
});

import { expect, test } from 'vitest';
import { codeOf, evaluate } from '../../testing/evaluate.ts';
import { bson } from '../../testing/run.ts';

const row = { a: [1, 2, 2n, 'x'], b: [2.5, 2, [1]], empty: [], n: null, text: 'x' };

test('sets: equal numbers of different types are one element, nested arrays are elements', async () => {
  expect(await evaluate({ $setUnion: ['$a', '$b'] }, row)).toEqual(bson([1, 2, 'x', 2.5, [1]]));
  expect(await evaluate({ $setIntersection: ['$a', '$b'] }, row)).toEqual(bson([2]));
  expect(await evaluate({ $setDifference: ['$a', '$b'] }, row)).toEqual(bson([1, 'x']));
  expect(await evaluate({ $setEquals: ['$a', ['x', 1, 2, 1], '$a'] }, row)).toBe(true);
  expect(await evaluate({ $setIsSubset: [[2, 2], '$b'] }, row)).toBe(true);
});

test('sets of null: null for union, intersection and difference, an error for the comparisons', async () => {
  for (const name of ['$setUnion', '$setIntersection', '$setDifference']) {
    expect(await evaluate({ [name]: ['$a', '$n'] }, row)).toBe(null);
  }
  expect(await codeOf({ $setEquals: ['$a', '$n'] }, row)).toBe(17044);
  expect(await codeOf({ $setEquals: ['$a', 5] }, row)).toBe(5887502);
  expect(await codeOf({ $setEquals: ['$a'] }, row)).toBe(17045);
  expect(await codeOf({ $setIsSubset: ['$n', '$a'] }, row)).toBe(17046);
  expect(await codeOf({ $setIsSubset: ['$a', '$n'] }, row)).toBe(17042);
});

test('$setIntersection ignores what comes after an empty set', async () => {
  expect(await evaluate({ $setIntersection: ['$empty', '$text'] }, row)).toEqual([]);
  expect(await codeOf({ $setIntersection: ['$text', '$empty'] }, row)).toBe(17047);
});

test('$allElementsTrue and $anyElementTrue judge elements like conditions', async () => {
  expect(await evaluate({ $allElementsTrue: [[1, 'x', []]] })).toBe(true);
  expect(await evaluate({ $allElementsTrue: ['$empty'] }, row)).toBe(true);
  expect(await evaluate({ $anyElementTrue: [[0, null, false]] })).toBe(false);
  expect(await codeOf({ $anyElementTrue: ['$n'] }, row)).toBe(17041);
});

test('$setIsSubset of a row in a constant that is not an array is refused before any row', async () => {
  expect(await codeOf({ $setIsSubset: ['$a', 5] }, { a: [1] })).toBe(17311);
  expect(await codeOf({ $setIsSubset: ['$a', '$b'] }, { a: [1], b: 5 })).toBe(17042);
  expect(await codeOf({ $setIsSubset: [true, 5] })).toBe(17046);
});

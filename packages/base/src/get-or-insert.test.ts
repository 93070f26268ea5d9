import { expect, test } from 'vitest';
import { getOrInsert, memoized } from './get-or-insert.ts';

test('a value that a map lacks is computed once and stored', () => {
  const sums = new Map<string, number[]>();
  getOrInsert(sums, 'a', () => []).push(1);
  getOrInsert(sums, 'a', () => [7]).push(2);
  expect([...sums]).toEqual([['a', [1, 2]]]);
});

test('a memoized function computes the value of each object once', () => {
  let computed = 0;
  const lengthOf = memoized((list: readonly number[]) => {
    computed++;
    return list.length;
  });
  const list = [1, 2];
  expect([lengthOf(list), lengthOf(list), lengthOf([3]), computed]).toEqual([2, 2, 1, 2]);
});

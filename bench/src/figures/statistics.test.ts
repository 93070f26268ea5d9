import { expect, test } from 'vitest';
import { median, percentile } from './statistics.ts';

test('percentiles are nearest ranks of the values, in any order, and do not change the values', () => {
  const values = [5, 1, 4, 2, 3, 10, 9, 8, 7, 6];
  expect([percentile(values, 0.5), percentile(values, 0.99), percentile(values, 0.1), median([2, 1, 3])]).toEqual([
    5, 10, 1, 2,
  ]);
  expect(values[0]).toBe(5);
  expect(percentile([], 0.5)).toBeNaN();
});

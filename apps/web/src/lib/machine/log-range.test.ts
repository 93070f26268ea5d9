import { expect, test } from 'vitest';
import { inputText, rangeOf, rangeProblem } from './log-range.ts';

test('a range of an address may be open at either end; other texts are no times', () => {
  const from = new Date('2026-11-30T22:15:00Z');
  expect(rangeOf(from.toISOString(), null)).toEqual({ from, to: undefined });
  expect(rangeOf('yesterday', '')).toBeUndefined();
  expect(rangeOf(null, null)).toBeUndefined();
});

test('an input shows the time of a range in the time zone of the browser, to the minute', () => {
  const text = '2026-11-30T22:15';
  expect(inputText(rangeOf(text, null)?.from)).toBe(text);
  expect(inputText(undefined)).toBe('');
});

test('a range that ends before it begins is a problem', () => {
  const [from, to] = [new Date(1), new Date(2)];
  expect(rangeProblem({ from, to })).toBe('');
  expect(rangeProblem({ from: to, to: from })).toBe('From must be before To.');
});

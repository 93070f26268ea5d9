import { expect, test } from 'vitest';
import { jsonText } from './json-text.ts';

test('few rows are complete JSON', () => {
  expect(JSON.parse(jsonText([{ a: 1 }, { b: { c: 'x' } }], 10))).toEqual([{ a: 1 }, { b: { c: 'x' } }]);
});

test.each([
  ['a text of 4 MB', [{ big: 'x'.repeat(4_000_000) }], /and 3,998,000 more characters/],
  ['an object of 4 MB', [{ big: Array.from({ length: 500_000 }, (_, at) => at) }], /more characters/],
  ['a million rows', Array.from({ length: 1_000_000 }, (_, n) => ({ n })), /and 999,700 more rows, in the download$/],
  ['rows of 4 kB', Array.from({ length: 300 }, () => ({ a: 'x'.repeat(1_999), b: 'y'.repeat(1_999) })), /more rows/],
])('%s stays short', (_name, rows, said) => {
  const text = jsonText(rows, 300);
  expect(text.length).toBeLessThan(210_000);
  expect(text).toMatch(said);
});

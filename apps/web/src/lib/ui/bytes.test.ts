import { expect, test } from 'vitest';
import { bytesText } from './bytes.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_500, '1.5 kB'],
  [120_000, '120 kB'],
  [999_400, '999 kB'],
  [999_999, '1 MB'],
  [5e9, '5 GB'],
  [1.234e12, '1.23 TB'],
  [2e18, '2000 PB'],
])('%i bytes are %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

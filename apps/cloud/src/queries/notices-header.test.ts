import { expect, test } from 'vitest';
import { noticesHeader } from './notices-header.ts';

const read = (text: string | undefined): unknown => JSON.parse(decodeURIComponent(text ?? ''));

test('notices survive encoding and decoding, as many as fit', () => {
  const notices = ['time_received is a date: "ü" \ud83d\ude00', 'b'];
  expect(noticesHeader(notices)).toMatch(/^[\x21-\x7e]+$/);
  expect(read(noticesHeader(notices))).toEqual(notices);
  expect(read(noticesHeader(['a', 'x'.repeat(3_000)]))).toEqual(['a']);
  expect(read(noticesHeader(['half a character: \ud800']))).toHaveLength(1);
  expect(noticesHeader(['x'.repeat(3_000)])).toBeUndefined();
  expect(noticesHeader([])).toBeUndefined();
});

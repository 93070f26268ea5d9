import { expect, test } from 'vitest';
import { sentencesHeader } from './sentences-header.ts';

const header = (sentences: readonly string[]) => sentencesHeader(sentences, 2_000);
const read = (text: string | undefined): unknown => JSON.parse(decodeURIComponent(text ?? ''));

test('sentences survive encoding and decoding, as many as fit', () => {
  const sentences = ['time_received is a date: "ü" \ud83d\ude00', 'b'];
  expect(header(sentences)).toMatch(/^[\x21-\x7e]+$/);
  expect(read(header(sentences))).toEqual(sentences);
  expect(read(header(['a', 'x'.repeat(3_000)]))).toEqual(['a']);
  expect(read(header(['half a character: \ud800']))).toHaveLength(1);
  expect(header(['x'.repeat(3_000)])).toBeUndefined();
  expect(header([])).toBeUndefined();
});

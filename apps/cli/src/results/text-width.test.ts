import fc from 'fast-check';
import { expect, test } from 'vitest';
import { widthOf, wrapped } from './text-width.ts';

test('text is broken at spaces, then after separators, then anywhere', () => {
  expect(wrapped('the clocks of both computers', 12)).toEqual(['the clocks', 'of both', 'computers']);
  expect(wrapped('http://127.0.0.1:8931/sign-in', 12)).toEqual(['http://127.', '0.0.1:8931/', 'sign-in']);
  expect(wrapped('a'.repeat(25), 12)).toEqual(['a'.repeat(12), 'a'.repeat(12), 'a']);
  expect(wrapped('', 12)).toEqual(['']);
});

test('no line is wider than asked, and only spaces are lost', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.integer({ min: 2, max: 20 }), (text, width) => {
      const lines = wrapped(text, width);
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
      expect(lines.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterCodePoints, countCodePoints, utf8Length } from './code-points.ts';

test('lengths in bytes and characters equal those of UTF-8 and of the iterator', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, count) => {
      const characters = Array.from(text);
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
      expect(countCodePoints(text, 0, text.length)).toBe(characters.length);
      expect(afterCodePoints(text, 0, count)).toBe(characters.slice(0, count).join('').length);
    }),
  );
});

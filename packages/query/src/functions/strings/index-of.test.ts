import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indexOf } from './index-of.ts';

test('searching for long texts gives the same result as the engine', () => {
  const text = fc.array(fc.constantFrom('a', 'a', 'a', 'b'), { maxLength: 400 }).map((letters) => letters.join(''));
  fc.assert(
    fc.property(text, fc.nat(200), fc.nat(200), fc.boolean(), (letters, start, length, broken) => {
      const part = letters.slice(start, start + length) + (broken ? 'b' : '');
      const sought = part.padStart(70, 'a');
      for (const within of [letters, 'a'.repeat(70) + letters, letters + sought]) {
        for (const from of [0, 3, within.length])
          expect(indexOf(within, sought, from)).toBe(within.indexOf(sought, from));
      }
    }),
  );
});

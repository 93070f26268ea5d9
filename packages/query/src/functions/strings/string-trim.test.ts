import { expect, test } from 'vitest';
import { codeOf, evaluate } from '../../testing/evaluate.ts';

test('white space is the null byte and the spaces up to the hair space, not the line separators of Unicode', async () => {
  expect(await evaluate({ $trim: { input: '\0\t\u00a0\u200a x \u1680\n' } })).toBe('x');
  expect(await evaluate({ $trim: { input: '\u2028x\u3000' } })).toBe('\u2028x\u3000');
});

test('given characters are trimmed in any order, whole ones only', async () => {
  expect(await evaluate({ $ltrim: { input: 'xyxa', chars: 'yx' } })).toBe('a');
  expect(await evaluate({ $rtrim: { input: 'a😀😁😀', chars: '😀😁' } })).toBe('a');
  expect(await evaluate({ $trim: { input: '😀', chars: '😁' } })).toBe('😀');
  expect(await evaluate({ $trim: { input: ' x ', chars: '' } })).toBe(' x ');
});

test('null as the text takes precedence over a wrong type of the characters, not vice versa', async () => {
  expect(await evaluate({ $trim: { input: null, chars: 5 } })).toBe(null);
  expect(await evaluate({ $trim: { input: 'x', chars: null } })).toBe(null);
  expect(await codeOf({ $trim: { input: 5, chars: null } })).toBe(50699);
  expect(await codeOf({ $trim: { input: 'x', chars: 5 } })).toBe(50700);
  expect(await codeOf({ $trim: 'x' })).toBe(50696);
  expect(await codeOf({ $trim: {} })).toBe(50695);
});

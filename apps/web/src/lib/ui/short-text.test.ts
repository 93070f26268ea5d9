import { expect, test } from 'vitest';
import { shortText } from './short-text.ts';

test('a long text is cut between characters', () => {
  expect(shortText('oven')).toBe('oven');
  expect(shortText('n'.repeat(10_000), 5)).toBe('nnnn…');
  expect(shortText('🔥🔥🔥', 4)).toBe('🔥…');
});

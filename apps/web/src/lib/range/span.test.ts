import { expect, test } from 'vitest';
import { spanOf, spanProblem, spanTexts } from './span.ts';

const [from, until] = [new Date('2026-11-30T22:15:00Z'), new Date('2026-11-30T23:00:00Z')];

test('a span of an address may be open at either end; other texts are no times', () => {
  expect(spanOf(from.toISOString(), null)).toEqual({ from, until: undefined });
  expect(spanOf(null, until.toISOString())).toEqual({ from: undefined, until });
  for (const text of ['yesterday', '', '7', '2026', '2026-99-01T00:00:00Z']) expect(spanOf(text, text)).toBeUndefined();
  expect(spanOf(null, null)).toBeUndefined();
});

test('an address has both ends in UTC, and is read back', () => {
  const texts = spanTexts({ from, until });
  expect(texts).toEqual({ from: '2026-11-30T22:15:00.000Z', until: '2026-11-30T23:00:00.000Z' });
  expect(spanOf(texts.from, texts.until)).toEqual({ from, until });
  expect(spanTexts(undefined)).toEqual({ from: '', until: '' });
});

test('a span that ends before it begins is a problem, and is ignored in an address', () => {
  expect(spanProblem({ from, until })).toBe('');
  for (const ends of [from, new Date(0)]) expect(spanProblem({ from, until: ends })).toBe('From must be before Until.');
  expect(spanOf(until.toISOString(), from.toISOString())).toBeUndefined();
});

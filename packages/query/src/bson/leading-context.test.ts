import { expect, test } from 'vitest';
import { evaluate } from '../testing/evaluate.ts';
import { bson } from '../testing/run.ts';
import { leadingContext } from './leading-context.ts';

test('a look-behind of fixed length becomes text matched before an empty group', () => {
  expect(leadingContext('(?<=(a)[b)]\\.)c')).toEqual({ pattern: '(?:(a)[b)]\\.)()c', startGroup: 2, length: 3 });
  expect(leadingContext('(?<=😀)c')?.length).toBe(1);
});

test('a pattern that does not start with a look-behind of fixed length is not rewritten', () => {
  for (const pattern of ['a', '(?<!a)b', '(?<=a|bc)d', '(?<=a*)b', '(?<=a)b|c', '(?<=a', '(?<=a)*b', '(?<=\\b)a']) {
    expect(leadingContext(pattern), pattern).toBe(undefined);
  }
});

test('the context before a match may be part of the previous match', async () => {
  const found = await evaluate({ $regexFindAll: { input: '😀aaab', regex: '(?<=(a))[ab]' } });
  const match = (text: string, idx: number): object => ({ match: text, idx, captures: ['a'] });
  expect(found).toEqual(bson([match('a', 2), match('a', 3), match('b', 4)]));
  expect(await evaluate({ $regexMatch: { input: 'xb', regex: '(?<=a)b' } })).toBe(false);
});

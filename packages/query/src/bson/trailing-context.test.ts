import { expect, test } from 'vitest';
import { trailingContext } from './trailing-context.ts';

test('the end of a pattern is found after escapes, classes and groups', () => {
  expect(trailingContext('a(b)(?=c)', false)).toEqual({ pattern: 'a(b)()(?:c)', endGroup: 2 });
  expect(trailingContext('[)$](?<n>x)(?:y)$', false)).toEqual({
    pattern: '[)$](?<n>x)(?:y)()(?:\\n?\\z)',
    endGroup: 2,
  });
  expect(trailingContext('[]$]$', false)?.pattern).toBe('[]$]()(?:\\n?\\z)');
});

test('an end that does not apply to the whole pattern stays as it is', () => {
  for (const pattern of ['a\\$', '[$', 'a|b$', '(a$)', '(?=a)b', 'x(?=a)+', '(?m)a$', 'a[(?=b)]', '']) {
    expect(trailingContext(pattern, false), pattern).toBe(undefined);
  }
  expect(trailingContext('a$', true)).toBe(undefined);
});

test('a negative look-ahead at the end: any of its characters may differ, or the text may end', () => {
  expect(trailingContext('a(?!b)', false)).toEqual({ pattern: 'a()(?:(?:\\z|[^b]))', endGroup: 1 });
  expect(trailingContext('(a)(?!\\d[^x])', false)).toEqual({
    pattern: '(a)()(?:(?:\\z|[^\\d]|\\d(?:\\z|[x])))',
    endGroup: 2,
  });
  for (const pattern of ['a(?!b|c)', 'a(?!b+)', 'a(?!(b))', 'a(?!)', 'a(?!b)c'])
    expect(trailingContext(pattern, false), pattern).toBe(undefined);
});

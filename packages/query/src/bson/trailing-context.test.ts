import { expect, test } from 'vitest';
import { trailingContext } from './trailing-context.ts';

test('the end of a pattern is found past escapes, classes and groups', () => {
  expect(trailingContext('a(b)(?=c)', false)).toEqual({ pattern: 'a(b)()(?:c)', endGroup: 2 });
  expect(trailingContext('[)$](?<n>x)(?:y)$', false)).toEqual({
    pattern: '[)$](?<n>x)(?:y)()(?:\\n?\\z)',
    endGroup: 2,
  });
  expect(trailingContext('[]$]$', false)?.pattern).toBe('[]$]()(?:\\n?\\z)');
});

test('where the end is not one of the whole pattern, it stays as it is', () => {
  for (const pattern of ['a\\$', '[$', 'a|b$', '(a$)', '(?=a)b', 'x(?=a)+', '(?m)a$', 'a[(?=b)]', '']) {
    expect(trailingContext(pattern, false), pattern).toBe(undefined);
  }
  expect(trailingContext('a$', true)).toBe(undefined);
});

import { expect, test } from 'vitest';
import { safePath } from './request-context.ts';

test('the path to open after sign-in always stays on this cloud', () => {
  expect(['/', '/account?x=1', '/machines/1'].map(safePath)).toEqual(['/', '/account?x=1', '/machines/1']);
  const away = ['//evil.example', '/.//evil.example/x', '/a/..//evil.example', '/%2e//evil.example', '/\\evil.example'];
  for (const next of [...away, 'https://evil.example', '', null, undefined, '/\t/evil.example'])
    expect(safePath(next)).toBe('/');
});

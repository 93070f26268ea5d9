import { expect, test } from 'vitest';
import { createCallLimit } from './call-limit.ts';

test('calls beyond the limit of a part or of an organization are refused by name, and free their slot when they end', () => {
  const limit = createCallLimit(2, 3);
  const first = limit.enter('a', 'acme');
  limit.enter('a', 'acme');
  expect(() => limit.enter('a', 'acme')).toThrow('part a: expected at most 2 calls');
  limit.enter('b', 'acme');
  expect(() => limit.enter('b', 'acme')).toThrow('organization acme: expected at most 3 calls');
  limit.enter('c', 'umbrella');
  first[Symbol.dispose]();
  limit.enter('b', 'acme');
});

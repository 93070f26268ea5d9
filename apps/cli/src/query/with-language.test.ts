import { expect, test } from 'vitest';
import { withLanguage } from './with-language.ts';

test.each([
  [
    ['query', 'SELECT 1', '--json='],
    ['query', 'sql', 'SELECT 1', '--json='],
  ],
  [
    ['query', ' with a as (select 1) select 1'],
    ['query', 'sql', ' with a as (select 1) select 1'],
  ],
  [
    ['query', '[{"$limit": 1}]'],
    ['query', 'mql', '[{"$limit": 1}]'],
  ],
  [
    ['query', '{"$limit": 1}'],
    ['query', 'mql', '{"$limit": 1}'],
  ],
  // A command, or a text that may be a misspelt one.
  [
    ['query', 'sql', 'SELECT 1'],
    ['query', 'sql', 'SELECT 1'],
  ],
  [
    ['query', 'selct'],
    ['query', 'selct'],
  ],
  [['query'], ['query']],
  [
    ['machines', 'SELECT 1'],
    ['machines', 'SELECT 1'],
  ],
])('%j → %j', (args, expected) => {
  expect(withLanguage(['node', 'platform', ...args])).toEqual(['node', 'platform', ...expected]);
});

import { expect, test } from 'vitest';
import { globalsLast } from './globals-last.ts';

const moved = (line: string): string =>
  globalsLast(['node', 'platform', ...line.split(' ')])
    .slice(2)
    .join(' ');

test.each([
  ['machines list --quiet', 'machines list --quiet'],
  ['--quiet machines list', 'machines list --quiet'],
  ['--profile ours --json=id,name machines list --all', 'machines list --all --profile ours --json=id,name'],
  ['--url=http://x --timeout 5s query -- SELECT', 'query --url=http://x --timeout 5s -- SELECT'],
  // Not global, or not before a command: left to the parser.
  ['--unknown machines list', '--unknown machines list'],
  ['--version', '--version'],
  ['--quiet', '--quiet'],
  ['--profile', '--profile'],
  ['machines --quiet list', 'machines --quiet list'],
])('%s → %s', (line, expected) => {
  expect(moved(line)).toBe(expected);
});

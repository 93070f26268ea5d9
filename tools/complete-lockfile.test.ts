import { expect, test } from 'vitest';
import { type LockEntry, missingEntries } from './complete-lockfile.ts';

test('missing optional packages get their version, and the system in their name', () => {
  const packages = {
    '': {},
    'node_modules/a': { dev: true, optionalDependencies: { 'a-linux-x64-musl': '1.2.3', 'a-linux-x64': '1.2.3' } },
    'node_modules/a-linux-x64': { version: '1.2.3' },
    'node_modules/b': { optionalDependencies: { '@b/darwin-arm64': '4.0.0-r.1' } },
  };
  expect(missingEntries(packages)).toEqual({
    'node_modules/a-linux-x64-musl': {
      version: '1.2.3',
      dev: true,
      optional: true,
      cpu: ['x64'],
      os: ['linux'],
      libc: ['musl'],
    },
    'node_modules/@b/darwin-arm64': { version: '4.0.0-r.1', optional: true, cpu: ['arm64'], os: ['darwin'] },
  });
});

test('a range, or a name without a system, is refused by name', () => {
  const wants = (name: string, version: string): Record<string, LockEntry> => ({
    'node_modules/a': { optionalDependencies: { [name]: version } },
  });
  expect(() => missingEntries(wants('b-linux-x64', '^1.0.0'))).toThrow(
    'b-linux-x64@^1.0.0: expected one exact version',
  );
  expect(() => missingEntries(wants('b', '1.0.0'))).toThrow('b: expected a system and a processor');
});

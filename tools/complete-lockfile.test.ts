import { expect, test } from 'vitest';
import { type LockEntry, missingEntries, withoutChecksum } from './complete-lockfile.ts';

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

test('every entry that npm installs needs a checksum; workspaces of ours and links to them do not', () => {
  const packages = {
    '': {},
    'packages/base': { version: '0.1.0' },
    'node_modules/@platform/base': { link: true },
    'node_modules/a': { version: '1.2.3', integrity: 'sha512-x' },
    'node_modules/@b/linux-x64': { version: '4.0.0-r.1' },
    'node_modules/a/node_modules/c': { version: '2.0.0' },
  };
  expect(withoutChecksum(packages)).toEqual({
    'node_modules/@b/linux-x64': '@b/linux-x64@4.0.0-r.1',
    'node_modules/a/node_modules/c': 'c@2.0.0',
  });
});

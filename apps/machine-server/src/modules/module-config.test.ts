import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readModules } from './module-config.ts';

test("a path that begins with ~/ lies in the home of the machine-server's user", () => {
  const { modules } = readModules([
    { name: 'a', executable_path: '~/.viam/packages-local/a.tar.gz' },
    { name: 'b', executable_path: '/opt/~/b' },
  ]);
  expect(modules.map(({ executablePath }) => executablePath)).toEqual([
    join(homedir(), '.viam/packages-local/a.tar.gz'),
    '/opt/~/b',
  ]);
});

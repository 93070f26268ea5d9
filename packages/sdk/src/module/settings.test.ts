import { expect, test } from 'vitest';
import { readSettings } from './settings.ts';

test('the address is the first argument, otherwise the variable; our variables come before the public ones', () => {
  const env = {
    VIAM_MODULE_ADDRESS: '/run/v.sock',
    VIAM_MODULE_NAME: 'public',
    PLATFORM_MODULE_NAME: 'ours',
    VIAM_MACHINE_PART_ID: 'part-1',
    VIAM_PRIMARY_ORG_ID: 'org-1',
  };
  expect(readSettings(['/run/a.sock', '--log-level=DEBUG', '--tcp-mode'], env)).toMatchObject({
    address: { kind: 'socket', path: '/run/a.sock' },
    logLevel: 'debug',
    info: { name: 'ours', partId: 'part-1', organizationId: 'org-1', moduleId: '' },
  });
  expect(readSettings([], env)).toMatchObject({ address: { path: '/run/v.sock' }, logLevel: 'info' });
  expect(readSettings([], { ...env, PLATFORM_MODULE_ADDRESS: '127.0.0.1:4000' }).address).toEqual({
    ...{ kind: 'port', host: '127.0.0.1', port: 4000 },
  });
});

test('the schemes of public machine-servers are accepted in an address', () => {
  const pathOf = (text: string) => readSettings([text], {}).address;
  for (const text of ['unix:///tmp/p.sock', 'unix:/tmp/p.sock', '/tmp/p.sock'])
    expect(pathOf(text)).toEqual({ kind: 'socket', path: '/tmp/p.sock' });
  expect(pathOf('http://127.0.0.1:80')).toEqual({ kind: 'port', host: '127.0.0.1', port: 80 });
});

test('the error for a missing or invalid address says what to do', () => {
  expect(() => readSettings(['--log-level=info'], {})).toThrow('add this program as executable_path to "modules"');
  for (const text of ['nonsense', '127.0.0.1:70000', 'host:'])
    expect(() => readSettings([text], {})).toThrow(
      `expected the path of a socket (/run/module.sock) or 127.0.0.1:port as address, found "${text}"`,
    );
});

/** The command line with the port of a machine-server instead of a cloud. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnChild } from '@platform/testkit';
import { expect, test } from 'vitest';
import { program } from '../../../tools/bundles/program.ts';
import { openCommandLine } from './command-line.ts';

const machineMain = program('machine-server');
const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

test('D16 PLATFORM_BIND_ADDRESS sets the address of a machine-server; the command line reports that it is not a cloud', async () => {
  await using cli = await openCommandLine();
  const config = join(cli.directory, 'machine.json');
  writeFileSync(config, '{"components":[]}');
  const machine = spawnChild(process.execPath, [...nodeFlags, machineMain, '-config', config], {
    env: { PLATFORM_HOME: join(cli.directory, 'machine'), PLATFORM_BIND_ADDRESS: '127.0.0.1:0' },
  });
  try {
    const { address } = await machine.waitForLine((line) => line['msg'] === 'serving');
    const url = `http://${address}`;
    expect(Number(new URL(url).port)).not.toBe(8080);
    const at = ['--url', url, '--key-id', 'id', '--key-file', '-'];
    const all = await Promise.all([
      cli.run(['organizations', 'list', ...at], { input: 'key' }),
      // It has no credentials, so it accepts any.
      cli.run(['login', 'api-key', ...at], { input: 'key' }),
      cli.run(['login', '--url', url, '--no-browser']),
    ]);
    for (const { code, stdout, stderr } of all) {
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(`${url} is a machine-server, not a cloud. Use --url with the address of your cloud`);
    }
    expect((await cli.ok(['profiles', 'list', '--json'])).json()).toEqual([]);
  } finally {
    await machine.kill('SIGTERM');
  }
});

import { existsSync, readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import { createTestHome, startTestServer, until } from '../testing/start-test-server.ts';
import { isReadByAll } from './read-document.ts';

test('a machine-server warns if every account of the computer can read the secret in the file of -config', async () => {
  await using cloud = await startFakeCloud({});
  await using home = await createTestHome(cloud.url);
  await chmod(home.configFile, 0o644);
  expect(await isReadByAll(home.configFile)).toBe(false);
  await chmod(home.path, 0o755);
  await using _server = await startTestServer(home);
  const file = join(home.path, 'log');
  const log = (): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const warning = `every account of this computer can read the secret of this machine in ${home.configFile}: run chmod go= ${home.configFile}`;
  await until('the warning', () => log().includes(warning));
  await chmod(home.configFile, 0o600);
  expect(await isReadByAll(home.configFile)).toBe(false);
  expect(await isReadByAll(join(home.path, 'none'))).toBe(false);
});

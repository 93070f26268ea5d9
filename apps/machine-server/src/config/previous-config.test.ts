import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlatformError } from '@platform/base';
import { expect, test } from 'vitest';
import { partId, startFakeCloud } from '../testing/fake-cloud.ts';
import { configError, states } from '../testing/local-machine.ts';
import { createTestHome, startTestServer, until } from '../testing/start-test-server.ts';

const machine = (name: string) => ({
  components: [{ name, api: 'core:component:sensor', model: 'core:builtin:fake' }],
});
const onLoopback = { env: { PLATFORM_BIND_ADDRESS: '127.0.0.1:0' } };

test('an unreadable configuration from the cloud changes nothing: log, status and cloud report it until one can be read', async () => {
  await using cloud = await startFakeCloud(machine('a'));
  await using home = await createTestHome(cloud.url);
  await using server = await startTestServer(home, undefined, undefined, onLoopback);
  const last = () => cloud.reports?.at(-1)?.lastError ?? '';
  await until('the first report', () => (cloud.reports ?? []).length > 0);
  cloud.isGarbled = true;
  const expected = `fetching the configuration failed; the running one stays in use: ${cloud.url}: `;
  await until('the report', () => last().startsWith(expected));
  expect(await configError(server)).toBe(last());
  await until('the line', () => cloud.logs.includes(last()));
  expect(states(server)).toBe('a ready');
  cloud.document = machine('b');
  cloud.isGarbled = false;
  await until('the next configuration', () => states(server) === 'b ready');
  await until('the end of the problem', () => last() === '');
});

test('D8 a start with a damaged cache and no cloud uses the previous configuration; without that it is refused with both files', async () => {
  await using cloud = await startFakeCloud(machine('a'));
  await using home = await createTestHome(cloud.url);
  {
    await using server = await startTestServer(home, undefined, undefined, onLoopback);
    cloud.document = machine('b');
    await until('the second configuration', () => states(server) === 'b ready');
  }
  const cache = join(home.path, `cached_cloud_config_${partId}.json`);
  await writeFile(cache, '{"confirmed":"2026-01-01T00:00:00.000Z","config":{},"sha256":"0"}');
  cloud.configError = new PlatformError('unavailable', 'the disk is full');
  {
    await using server = await startTestServer(home, undefined, undefined, onLoopback);
    expect(states(server)).toBe('a ready');
    const damage = `the cached configuration ${cache} cannot be read: its checksum does not match its content`;
    expect(await configError(server)).toContain(
      `${damage}; using the configuration cached in ${cache.slice(0, -5)}.previous.json`,
    );
    cloud.configError = undefined;
    await until('the cloud', () => states(server) === 'b ready');
    await until('no error', async () => (await configError(server)) === '');
  }
  await writeFile(cache, '');
  await writeFile(`${cache.slice(0, -5)}.previous.json`, 'x');
  cloud.configError = new PlatformError('unavailable', 'the disk is full');
  await expect(startTestServer(home, undefined, undefined, onLoopback)).rejects.toThrow(
    /the disk is full; the cached configuration .*\.json cannot be read: .*; the cached configuration .*\.previous\.json cannot be read: /,
  );
});

test('the configuration of another part is refused', async () => {
  await using cloud = await startFakeCloud(machine('a'));
  await using home = await createTestHome(cloud.url);
  const credentials = { cloud: { id: 'another', secret: 'secret', app_address: cloud.url } };
  await writeFile(home.configFile, JSON.stringify(credentials));
  await expect(startTestServer(home, undefined, undefined, onLoopback)).rejects.toThrow(
    `the cloud answered with the configuration of another part (${partId})`,
  );
});

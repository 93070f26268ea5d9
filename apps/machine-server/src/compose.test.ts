import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlatformError } from '@platform/base';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { startFakeCloud } from './testing/fake-cloud.ts';
import { countingDocument, createTestHome, startTestServer, until } from './testing/start-test-server.ts';

/** Counts of the stored readings: 1, 2, 3, … without a gap or a double, whatever the order of the files. */
function expectEveryReadingOnce(readings: readonly Readonly<Record<string, unknown>>[]): void {
  const counts = readings.map(({ count }) => Number(count)).toSorted((a, b) => a - b);
  expect(counts).toEqual(counts.map((_, index) => index + 1));
}

async function captured(home: string): Promise<string[]> {
  const entries = await readdir(join(home, 'capture'), { recursive: true }).catch(() => []);
  return entries.filter((entry) => entry.endsWith('.capture') || entry.endsWith('.prog'));
}

test('readings flow from the sensor to the cloud, each once, and their files are deleted; the stop sends the last ones', async () => {
  await using cloud = await startFakeCloud(
    countingDocument(200, { method: { tags: ['m'] }, service: { tags: ['s'] } }),
  );
  await using home = await createTestHome(cloud.url);
  const server = await startTestServer(home);
  await until('100 readings', () => cloud.readings().length >= 100);
  await server[Symbol.asyncDispose]();
  expectEveryReadingOnce(cloud.readings());
  expect(cloud.breaches).toEqual([]);
  expect(await captured(home.path)).toEqual([]);
  const { metadata } = cloud.stored[0]!;
  // D12: tags of the method are added to those of the service.
  expect(metadata).toMatchObject({
    componentType: 'core:component:sensor',
    componentName: 'counter',
    methodName: 'Readings',
    tags: ['s', 'm'],
  });
  expect(await readdir(home.path)).toContain(`cached_cloud_config_${metadata.partId}.json`);
});

test('D13 I5 lost acknowledgements leave one copy of every reading, and the floor never passes an unsent file', async () => {
  await using cloud = await startFakeCloud(countingDocument(500, { service: { maximum_num_sync_threads: 3 } }));
  cloud.after = () => {
    if (cloud.attempts % 3 !== 0) throw new PlatformError('unavailable', 'the answer is lost');
  };
  await using home = await createTestHome(cloud.url);
  const server = await startTestServer(home);
  await until('300 readings', () => cloud.readings().length >= 300);
  cloud.after = () => {};
  await until('all sent', async () => (await captured(home.path)).length <= 1);
  await server[Symbol.asyncDispose]();
  await until('attempts beyond files', () => cloud.attempts > cloud.stored.length);
  expectEveryReadingOnce(cloud.readings());
  expect(cloud.breaches).toEqual([]);
  // The floor of the stream rose behind what was acknowledged (I6).
  expect(Math.max(...cloud.floors.map(({ floor }) => floor))).toBeGreaterThan(1);
});

test('D15 a file that is refused for reasons of its own stops no other, and one of a bad kind is set aside with its reason', async () => {
  await using cloud = await startFakeCloud(countingDocument(100));
  let hopeless: bigint | undefined;
  cloud.before = ({ identity }) => {
    hopeless ??= identity?.seq;
    if (identity?.seq === hopeless) throw new PlatformError('resource_exhausted', 'not this one');
    if (identity?.seq === (hopeless ?? 0n) + 1n) throw new PlatformError('invalid_argument', 'never this one');
  };
  await using home = await createTestHome(cloud.url);
  const server = await startTestServer(home);
  await until('five other files', () => cloud.stored.length >= 5);
  await until('a file set aside', () => server.sync.status.setAsideFiles === 1);
  // The floor stays at the file that may still be sent (I6).
  expect(new Set(cloud.floors.map(({ floor }) => floor))).toEqual(new Set([Number(hopeless)]));
  await server[Symbol.asyncDispose]();
  const failed = await readdir(join(home.path, 'capture', 'failed'), { recursive: true });
  const reason = failed.find((name) => name.endsWith('.reason')) ?? '';
  expect(await readFile(join(home.path, 'capture', 'failed', reason), 'utf8')).toContain(
    'invalid_argument: never this one',
  );
  expect(failed.filter((name) => name.endsWith('.capture'))).toHaveLength(1);
});

test('D14 a reading over 4 MB is split off and set aside; its neighbours are stored', async () => {
  const big = countingDocument(20, {
    service: { maximum_capture_file_size_bytes: 16_000_000, sync_interval_mins: 0.02 },
  });
  await using cloud = await startFakeCloud(big);
  await using home = await createTestHome(cloud.url);
  const server = await startTestServer(home);
  const link = connect({ baseUrl: `http://127.0.0.1:${server.serving.port}` });
  const sensor = link.client(SensorService);
  await sensor.doCommand({ name: 'counter', command: { set: { blob: 'x'.repeat(4_200_000) } } });
  await until('an oversize file', async () =>
    (await readdir(join(home.path, 'capture', 'failed'), { recursive: true }).catch(() => [])).some((name) =>
      name.endsWith('.oversize.capture'),
    ),
  );
  await sensor.doCommand({ name: 'counter', command: { set: { blob: '' } } });
  const before = cloud.readings().length;
  await until('more readings', () => cloud.readings().length > before + 5);
  await link[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  expect(cloud.readings().every(({ blob }) => String(blob ?? '').length < 10)).toBe(true);
  expect(cloud.breaches).toEqual([]);
});

test('a new configuration is applied while running, a failing cloud changes nothing, and the API tells both', async () => {
  await using cloud = await startFakeCloud(countingDocument(50));
  await using home = await createTestHome(cloud.url);
  await using server = await startTestServer(home);
  await using link = connect({ baseUrl: `http://127.0.0.1:${server.serving.port}` });
  const machine = link.client(RobotService);
  const names = async (): Promise<string[]> => (await machine.resourceNames({})).resources.map(({ name }) => name);
  expect(await names()).toEqual(['counter', 'dm']);
  const changed = countingDocument(50) as { components: object[] };
  changed.components.push({ name: 'broken', api: 'core:component:sensor', model: 'acme:no:model' });
  changed.components.push({
    name: 'second',
    api: 'core:component:sensor',
    model: 'core:builtin:fake',
    attributes: { readings: { t: 21.5 } },
  });
  cloud.document = changed;
  await until('the second sensor', async () => (await names()).includes('second'));
  const status = await machine.getMachineStatus({});
  expect(status.resources.find(({ name }) => name?.name === 'broken')?.error).toContain('acme:no:model');
  cloud.configError = new PlatformError('failed_precondition', 'malformed');
  const { readings } = await link.client(SensorService).getReadings({ name: 'second' });
  expect(readings['t']?.kind).toEqual({ case: 'numberValue', value: 21.5 });
  await expect(link.client(SensorService).getReadings({ name: 'nobody' })).rejects.toMatchObject({ code: 'not_found' });
  expect(await names()).toContain('second');
});

test('D8 without its cloud the server starts from the cached configuration, and not from one that is too old', async () => {
  const cloud = await startFakeCloud(countingDocument(50));
  await using home = await createTestHome(cloud.url);
  await (await startTestServer(home))[Symbol.asyncDispose]();
  await cloud.stop();
  const offline = await startTestServer(home);
  expect(offline.graph.get('core:component:sensor/counter')).toBeDefined();
  await until('captured while offline', async () => (await captured(home.path)).length > 0);
  await offline[Symbol.asyncDispose]();

  const cache = join(
    home.path,
    (await readdir(home.path)).find((name) => name.startsWith('cached_cloud_config_')) ?? '',
  );
  const content = JSON.parse(await readFile(cache, 'utf8')) as { confirmed: string };
  const old = new Date(Date.now() - 61 * 86_400_000).toISOString();
  await writeFile(cache, JSON.stringify({ ...content, confirmed: old }));
  await expect(startTestServer(home)).rejects.toThrow(/61 days ago.*limit is 60/s);
});

test('arbitrary files of additional paths are sent once they rest, and deleted', async () => {
  await using cloud = await startFakeCloud({});
  await using home = await createTestHome(cloud.url);
  const extra = join(home.path, 'extra');
  cloud.document = countingDocument(1, { service: { additional_sync_paths: [extra], file_last_modified_millis: 50 } });
  await writeFile(
    await import('node:fs/promises').then(async ({ mkdir }) => (await mkdir(extra), join(extra, 'note.txt'))),
    'hello',
  );
  const server = await startTestServer(home);
  await until('the file', () => cloud.files.size === 1);
  await until('deleted', async () => (await readdir(extra)).length === 0);
  await server[Symbol.asyncDispose]();
  expect(Buffer.from(cloud.files.get(join(extra, 'note.txt')) ?? []).toString()).toBe('hello');
});

test('the logs of the machine reach its cloud', async () => {
  await using cloud = await startFakeCloud(countingDocument(1));
  await using home = await createTestHome(cloud.url);
  await using _server = await startTestServer(home);
  await until('a log line', () => cloud.logs.includes('configuration applied'));
});

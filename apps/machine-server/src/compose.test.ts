import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import { createCaptureFileWriter, readCaptureFile } from '@platform/capture-file';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { ResourceStatus_Reachability, RobotService } from '@platform/proto/platform/robot/v1/robot';
import { connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { ReadingEncoder } from './capture/encode.ts';
import { diskStorage } from './directories/disk-storage.ts';
import { partId, startFakeCloud } from './testing/fake-cloud.ts';
import { countingDocument, createTestHome, startTestServer, until } from './testing/start-test-server.ts';

/** Expects the stored readings to be numbered 1, 2, 3, … without gaps or duplicates, whatever the order of the files. */
function expectEveryReadingOnce(readings: readonly Readonly<Record<string, unknown>>[]): void {
  const counts = readings.map(({ count }) => Number(count)).toSorted((a, b) => a - b);
  expect(counts).toEqual(counts.map((_, index) => index + 1));
}

async function captured(home: string): Promise<string[]> {
  const entries = await readdir(join(home, 'capture'), { recursive: true }).catch(() => []);
  return entries.filter((entry) => entry.endsWith('.capture') || entry.endsWith('.prog'));
}

test('every reading gets from the sensor to the cloud once, and its file is deleted; a stop sends the last ones', async () => {
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

test('D13 I5 lost acknowledgements leave one copy of every reading, and the low-water mark never passes an unsent file', async () => {
  await using cloud = await startFakeCloud(countingDocument(500, { service: { maximum_num_sync_threads: 3 } }));
  cloud.after = () => {
    if (cloud.attempts % 3 !== 0) throw new PlatformError('unavailable', 'the answer is lost');
  };
  await using home = await createTestHome(cloud.url);
  const server = await startTestServer(home);
  await until('300 readings', () => cloud.readings().length >= 300);
  cloud.after = () => {};
  // The low-water mark of the stream rises as uploads are acknowledged (I6).
  await until('a low-water mark that rose', () => cloud.lowWaterMarks.some(({ floor }) => floor > 1));
  await until('all sent', async () => (await captured(home.path)).length <= 1);
  await server[Symbol.asyncDispose]();
  await until('attempts beyond files', () => cloud.attempts > cloud.stored.length);
  expectEveryReadingOnce(cloud.readings());
  expect(cloud.breaches).toEqual([]);
});

test('D15 a file refused for its contents blocks no other; one that can never be accepted is set aside with the reason', async () => {
  await using cloud = await startFakeCloud(countingDocument(100));
  // The first file and the second, whichever arrives first.
  cloud.before = ({ identity }) => {
    if (identity?.seq === 1n) throw new PlatformError('resource_exhausted', 'not this one');
    if (identity?.seq === 2n) throw new PlatformError('invalid_argument', 'never this one');
  };
  await using home = await createTestHome(cloud.url);
  const server = await startTestServer(home);
  await until('five other files', () => cloud.stored.length >= 5);
  await until('a file set aside', () => server.sync.tally.setAsideFiles === 1);
  // The low-water mark stays at the file that may still be sent (I6).
  expect(new Set(cloud.lowWaterMarks.map(({ floor }) => floor))).toEqual(new Set([1]));
  await server[Symbol.asyncDispose]();
  const failed = await readdir(join(home.path, 'capture', 'failed'), { recursive: true });
  const reason = failed.find((name) => name.endsWith('.reason')) ?? '';
  expect(await readFile(join(home.path, 'capture', 'failed', reason), 'utf8')).toContain(
    'invalid_argument: never this one',
  );
  expect(failed.filter((name) => name.endsWith('.capture'))).toHaveLength(1);
});

test('D15 an upload that hangs blocks only its own thread and no other file', async () => {
  await using cloud = await startFakeCloud(countingDocument(100, { service: { maximum_num_sync_threads: 2 } }));
  const release = Promise.withResolvers<void>();
  let hanging: bigint | undefined;
  cloud.before = async ({ identity }) => {
    hanging ??= identity?.seq;
    if (identity?.seq === hanging) await release.promise;
  };
  await using home = await createTestHome(cloud.url);
  const server = await startTestServer(home);
  await until('ten other files', () => cloud.stored.length >= 10);
  release.resolve();
  await until('the one that hung', () => cloud.stored.some(({ metadata }) => metadata.identity?.seq === hanging));
  await server[Symbol.asyncDispose]();
  expectEveryReadingOnce(cloud.readings());
  expect(cloud.breaches).toEqual([]);
});

test('D14 a reading over 4 MB is split off and set aside; the others are stored, even if an upload is repeated', async () => {
  await using cloud = await startFakeCloud(countingDocument(1));
  await using home = await createTestHome(cloud.url);
  const encoder = new ReadingEncoder();
  const reading = (n: number, text: string): Uint8Array =>
    encoder.encode({ requestedMicros: n, receivedMicros: n, document: { readings: { n, text } } });
  const header = create(CaptureFileHeaderSchema, {
    stream: new Uint8Array(16).fill(1),
    seq: 9n,
    partId,
    metadata: { componentType: 'core:component:sensor', componentName: 'big', methodName: 'Readings' },
  });
  const writer = await createCaptureFileWriter({
    storage: diskStorage(home.path),
    path: join(home.path, 'capture', 'big'),
    header,
  });
  for (const bytes of [reading(1, ''), reading(2, 'x'.repeat(4_194_304)), reading(3, '')]) writer.append(bytes);
  await writer.seal();
  let answers = 0;
  cloud.after = ({ componentName }) => {
    if (componentName === 'big' && ++answers < 3) throw new PlatformError('unavailable', 'the answer is lost');
  };
  const server = await startTestServer(home);
  await until('the answer', () => answers === 3);
  await server[Symbol.asyncDispose]();
  const stored = cloud.stored.filter(({ metadata }) => metadata.componentName === 'big');
  expect(stored.map(({ readings }) => readings.length)).toEqual([2]);
  expect(cloud.breaches).toEqual([]);
  const failed = await readdir(join(home.path, 'capture', 'failed'));
  expect(failed.toSorted()).toEqual(['big_3.oversize_1.capture', 'big_3.oversize_1.capture.reason']);
  const aside = readCaptureFile(await readFile(join(home.path, 'capture', 'failed', 'big_3.oversize_1.capture')));
  expect(aside.readings.map((bytes) => bytes.length > 4_194_304)).toEqual([true]);
});

test('a new configuration is applied while running, a failing cloud changes nothing, and the API reports both', async () => {
  await using cloud = await startFakeCloud(countingDocument(50));
  await using home = await createTestHome(cloud.url);
  await using server = await startTestServer(home);
  await using link = connect({ baseUrl: `http://127.0.0.1:${server.serving.port}` });
  const machine = link.client(RobotService);
  const names = async (): Promise<string[]> => (await machine.resourceNames({})).resources.map(({ name }) => name);
  expect(await names()).toEqual(['counter', 'dm']);
  const changed = countingDocument(50) as { components: object[] };
  changed.components.push({ name: 'broken', api: 'core:component:sensor', model: 'acme:no:model' });
  changed.components.push({ name: 'poses', api: 'core:component:pose_tracker', model: 'core:builtin:fake' });
  Object.assign(changed, { jobs: [{ name: 'nightly' }] });
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
  expect(new Set(status.resources.map(({ reachability }) => reachability))).toEqual(
    new Set([ResourceStatus_Reachability.REACHABLE]),
  );
  expect(status.resources.find(({ name }) => name?.name === 'poses')?.error).toContain('no resources of type');
  await until('the warning in the cloud', () =>
    cloud.logs.some((line) => line.startsWith('jobs[0]: the job "nightly"')),
  );
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
  // Another process may use its port by now; nothing listens at port 1.
  await writeFile(home.configFile, (await readFile(home.configFile, 'utf8')).replace(cloud.url, 'http://127.0.0.1:1'));
  const offline = await startTestServer(home);
  expect(offline.graph.get('core:component:sensor/counter')).toBeDefined();
  await until('captured while offline', async () => (await captured(home.path)).length > 0);
  await offline[Symbol.asyncDispose]();

  const cache = join(
    home.path,
    (await readdir(home.path)).find((name) => name.startsWith('cached_cloud_config_')) ?? '',
  );
  const { sha256: _, ...content } = JSON.parse(await readFile(cache, 'utf8')) as Record<string, string>;
  const old = new Date(Date.now() - 61 * 86_400_000).toISOString();
  const aged = { ...content, confirmed: old };
  const sha256 = createHash('sha256').update(JSON.stringify(aged)).digest('hex');
  await writeFile(cache, JSON.stringify({ ...aged, sha256 }));
  await expect(startTestServer(home)).rejects.toThrow(/61 days ago.*limit is 60/s);
});

test('arbitrary files in additional paths are sent once they are unmodified, then deleted', async () => {
  await using cloud = await startFakeCloud({});
  await using home = await createTestHome(cloud.url);
  const extra = join(home.path, 'extra');
  cloud.document = countingDocument(1, { service: { additional_sync_paths: [extra], file_last_modified_millis: 50 } });
  await mkdir(extra);
  await writeFile(join(extra, 'note.txt'), 'hello');
  const server = await startTestServer(home);
  await until('the file', () => cloud.files.size === 1);
  await until('deleted', async () => (await readdir(extra)).length === 0);
  await server[Symbol.asyncDispose]();
  expect(Buffer.from(cloud.files.get(join(extra, 'note.txt')) ?? []).toString()).toBe('hello');
});

test('the logs of the machine reach its cloud, those of an earlier start first, even if the cloud refused them then', async () => {
  await using cloud = await startFakeCloud(countingDocument(1));
  await using home = await createTestHome(cloud.url);
  cloud.logError = new PlatformError('unavailable', 'no');
  await (await startTestServer(home))[Symbol.asyncDispose]();
  expect(cloud.logs).toEqual([]);
  cloud.logError = undefined;
  await using _server = await startTestServer(home);
  const applied = (): string[] => cloud.logs.filter((line) => line === 'configuration applied');
  await until('the lines of both starts', () => applied().length === 2);
  // Before the first contact, only the start itself logged lines.
  expect(cloud.logs.indexOf('serving')).toBeLessThan(cloud.logs.indexOf('configuration applied'));
  expect(cloud.logs.filter((line) => line === 'serving')).toHaveLength(2);
});

/**
 * The attributes of the data manager and of capture methods that the specification lists, in the real process: one server has all of them,
 * one has none, one has a wrong value for each. What only a
 * slow disk shows (queue and buffer) is tested in `capture`.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { expect, test } from 'vitest';
import { type FakeCloud, partId, startFakeCloud } from './testing/fake-cloud.ts';
import { Machine } from './testing/options/machine-run.ts';
import { until } from './testing/start-test-server.ts';

const big = 'x'.repeat(1_500);

function sensor(name: string, method: object): object {
  return {
    ...{ name, api: 'core:component:sensor', model: 'core:builtin:fake', attributes: { readings: { big } } },
    service_configs: [
      {
        type: 'data_manager',
        attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: 20, ...method }] },
      },
    ],
  };
}

const service = (attributes: object): object => ({
  services: [{ name: 'dm', api: 'core:service:data_manager', model: 'core:builtin:builtin', attributes }],
});

const credentials = (cloud: FakeCloud): object => ({
  cloud: { id: partId, secret: 'secret', app_address: cloud.url, refresh_interval: '100ms' },
});

/** Notes when uploads of a component came, and how many readings they had. */
function watch(cloud: FakeCloud, component: string): { readonly atMs: number[]; readonly readings: number[] } {
  const seen = { atMs: [] as number[], readings: [] as number[] };
  cloud.before = ({ componentName }, readings) => {
    if (componentName !== component) return;
    seen.atMs.push(performance.now());
    seen.readings.push(readings.length);
  };
  return seen;
}

const tagsOf = (cloud: FakeCloud, component: string): readonly string[] =>
  cloud.stored.find(({ metadata }) => metadata.componentName === component)?.metadata.tags ?? [];

async function bytesBelow(directory: string): Promise<number> {
  const names = await readdir(directory, { recursive: true });
  const sizes = await Promise.all(names.map((name) => stat(join(directory, name)).catch(() => undefined)));
  return sizes.reduce((sum, each) => sum + (each?.isFile() ? each.size : 0), 0);
}

test.concurrent('each attribute of the data manager and of capture methods does what it says', async () => {
  await using cloud = await startFakeCloud({});
  await using machine = await Machine.create();
  const [capture, own, extra] = [machine.path('elsewhere'), machine.path('own'), machine.path('extra')];
  await mkdir(extra);
  const components = [
    sensor('probe', { tags: ['of-method'] }),
    sensor('apart', { capture_directory: own }),
    sensor('off', { disabled: true }),
    {
      name: 'gate',
      api: 'core:component:sensor',
      model: 'core:builtin:fake',
      attributes: { readings: { should_sync: false } },
    },
  ];
  const attributes = {
    ...{
      capture_dir: capture,
      tags: ['of-service'],
      sync_interval_mins: 0.005,
      maximum_capture_file_size_bytes: 2_000,
    },
    ...{ additional_sync_paths: [extra], file_last_modified_millis: 50, maximum_num_sync_threads: 1 },
    docdb_capture_config: { uri: 'mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=200' },
  };
  const set = (more: object): void => {
    cloud.document = { components, ...service({ ...attributes, ...more }) };
  };
  set({});
  const seen = watch(cloud, 'probe');
  await writeFile(join(extra, 'note'), 'hello');
  const run = await machine.run({ document: credentials(cloud) });
  await run.says('the document database takes no readings');

  await until('ten uploads', () => seen.readings.length >= 10);
  expect(tagsOf(cloud, 'probe')).toEqual(['of-service', 'of-method']);
  // Two readings are more than 2,000 bytes.
  expect(Math.max(...seen.readings)).toBeLessThanOrEqual(2);
  expect(cloud.stored.some(({ metadata }) => metadata.componentName === 'off')).toBe(false);
  await until('the other sensor', () => tagsOf(cloud, 'apart').length > 0);
  expect([existsSync(capture), existsSync(own), existsSync(machine.path('capture'))]).toEqual([true, true, false]);
  await until('the file', () => cloud.files.has(join(extra, 'note')));

  for (const [name, more] of [
    ['sync_disabled', { sync_disabled: true }],
    ['selective_syncer_name', { selective_syncer_name: 'gate' }],
  ] as const) {
    set(more);
    await until(`${name}: captured and not sent`, async () => {
      const [attempts, bytes] = [cloud.attempts, await bytesBelow(capture)];
      await until('captured more', async () => (await bytesBelow(capture)) > bytes + 10 * big.length);
      return cloud.attempts === attempts;
    });
    set({});
    const before = cloud.attempts;
    await until(`${name}: sent again`, () => cloud.attempts > before);
  }
  const files = async (): Promise<number> =>
    (await readdir(capture, { recursive: true })).filter((name) => /\.(prog|capture)$/.test(name)).length;
  await until('capture goes on', async () => (await files()) > 0);
  set({ capture_disabled: true });
  await until('capture_disabled: all is sent', async () => (await files()) === 0);
  const applied = run.count('configuration applied');
  set({ capture_disabled: true, tags: [] });
  await until('another configuration', () => run.count('configuration applied') > applied);
  expect(await files()).toBe(0);
});

test.concurrent('on a disk that is full by its thresholds, every nth capture file is deleted', async () => {
  await using machine = await Machine.create();
  const thresholds = { disk_usage_deletion_threshold: 0, capture_dir_deletion_threshold: 0 };
  const attributes = { ...thresholds, delete_every_nth_when_disk_full: 2, maximum_capture_file_size_bytes: 2_000 };
  const run = await machine.run({ document: { components: [sensor('probe', {})], ...service(attributes) } });
  await run.says('capture files were deleted before they were synced');
  const deleted = Number(/"msg":"[^"]*capture files were deleted[^}]*"files":(\d+)/.exec(run.out)?.[1]);
  const left = (await readdir(machine.path('capture'), { recursive: true })).filter((name) =>
    name.endsWith('.capture'),
  );
  expect(deleted).toBeGreaterThan(0);
  expect(left.length).toBeGreaterThanOrEqual(deleted - 1);
});

test.concurrent('without attributes, the data manager and capture methods have the defaults of the specification', async () => {
  await using cloud = await startFakeCloud({});
  await using machine = await Machine.create();
  const [extra, other] = [machine.path('extra'), machine.path('other')];
  await Promise.all([mkdir(extra), mkdir(other)]);
  // The paths have no default, and are needed to see when a file counts as unmodified.
  cloud.document = { components: [sensor('probe', {})], ...service({ additional_sync_paths: [extra] }) };
  const seen = watch(cloud, 'probe');
  const run = await machine.run({ document: credentials(cloud) });
  await writeFile(join(other, 'note'), 'hello');
  await writeFile(join(extra, 'note'), 'hello');
  const writtenMs = performance.now();
  await until('the file', () => cloud.files.has(join(extra, 'note')));
  // 10 s; its time of modification is a little earlier than ours.
  expect(performance.now() - writtenMs).toBeGreaterThan(9_500);
  await until('uploads', () => seen.atMs.length >= 2);
  expect([tagsOf(cloud, 'probe'), [...cloud.files.keys()]]).toEqual([[], [join(extra, 'note')]]);
  expect(existsSync(machine.path('capture'))).toBe(true);
  // At 20 Hz, 6 s have 120 readings of 1,500 bytes, which fit into one file.
  expect(Math.max(...seen.readings)).toBeGreaterThan(20);
  expect(run.count('is ignored')).toBe(0);
});

test.concurrent('a wrong value of each attribute of the data manager and of capture methods is named with its path', async () => {
  await using machine = await Machine.create();
  const ofService = {
    ...{ capture_disabled: 'yes', capture_dir: 5, tags: ['a b'], sync_disabled: 1, additional_sync_paths: ['here'] },
    ...{ sync_interval_mins: -1, selective_syncer_name: 5, delete_every_nth_when_disk_full: 0 },
    ...{ maximum_num_sync_threads: -1, docdb_capture_config: 'here', maximum_capture_file_size_bytes: 0 },
    ...{ file_last_modified_millis: -1, disk_usage_deletion_threshold: 2, capture_dir_deletion_threshold: 2 },
  };
  const ofMethod = {
    ...{ capture_frequency_hz: 'often', additional_params: 5, disabled: 'yes', tags: ['a b'], capture_directory: 5 },
    ...{ capture_queue_size: -1, capture_buffer_size: -1, cache_size_kb: -1, recent_data_store: 5 },
  };
  const run = await machine.run({ document: { components: [sensor('probe', ofMethod)], ...service(ofService) } });
  const { configError } = await run.link.client(RobotService).getMachineStatus({});
  const method = 'components[0].service_configs[0].attributes.capture_methods[0]';
  const paths = [
    ...Object.keys(ofMethod).map((key) => `${method}.${key}`),
    ...Object.keys(ofService).map((key) => `services[0].attributes.${key}`),
  ];
  // The status has the first 20 of them, and counts the others.
  const shown = paths.filter((path) => configError.includes(path));
  expect([shown.length, /and (\d+) more/.exec(configError)?.[1]]).toEqual([20, String(paths.length - 20)]);
});

/**
 * The specified attributes of the data manager and of capture methods, in the real process: each is edited while it runs, and has an
 * observable effect.
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@platform/base';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { rollingSeed, seededRandom } from '@platform/testkit';
import { expect, test } from 'vitest';
import { attributeRows } from './testing/data-manager/attribute-rows.ts';
import { expectNothingLost } from './testing/data-manager/expect-nothing-lost.ts';
import { api, captured, credentials, fake, producesNothing, sends, startRig } from './testing/data-manager/rig.ts';
import { type FakeCloud, startFakeCloud } from './testing/fake-cloud.ts';
import { Machine } from './testing/options/machine-run.ts';
import { until } from './testing/start-test-server.ts';

/** Each machine-server takes a third of the attributes: their effects take real time. */
const thirds = [0, 1, 2].map((third) => Object.entries(attributeRows).filter((_, at) => at % 3 === third));

test.concurrent.for(thirds)(
  'each attribute takes effect by an edit of the configuration, without a restart, and no reading is lost or doubled: %#',
  async (rows) => {
    await using stack = new AsyncDisposableStack();
    const rig = await startRig(stack);
    for (const [name, row] of rows) {
      try {
        await row(rig);
      } catch (caught) {
        throw new Error(`${name}: ${String(caught)}`, { cause: caught });
      }
      rig.edit({});
    }
    await sends(rig);
    await captured(rig);
    await producesNothing(rig, { capture_disabled: true });
    await expectNothingLost(rig);
    const documents = [...rig.database.collections.values()].flatMap((each) => [...each.values()]);
    const numbers = documents.map(({ data }) => data.readings.seq);
    expect(new Set(numbers).size).toBe(numbers.length);
  },
);

test.concurrent('whatever is edited while a sensor is captured, no reading is lost or doubled', async () => {
  await using stack = new AsyncDisposableStack();
  const rig = await startRig(stack);
  const share = seededRandom(rollingSeed());
  const random = (most: number): number => Math.floor(share() * most);
  const pick = <T>(...values: readonly T[]): T => values[random(values.length)] as T;
  for (let edits = 0; edits < 25; edits++) {
    const folder = pick(undefined, join(rig.home, 'a'), join(rig.home, 'b'));
    const service = {
      tags: pick([], ['x'], ['x', 'y']),
      sync_disabled: pick(false, false, true),
      capture_disabled: pick(false, false, false, true),
      maximum_capture_file_size_bytes: pick(300, 2_000, 262_144),
      maximum_num_sync_threads: pick(1, 3),
      sync_order: pick('oldest_first', 'newest_first'),
      ...(folder !== undefined && { capture_dir: folder }),
    };
    const method = {
      capture_frequency_hz: pick(20, 100, 400),
      capture_buffer_size: pick(0, 100, 4_096),
      disabled: pick(false, false, false, true),
      ...pick({}, { capture_directory: join(rig.home, 'c') }),
    };
    rig.edit(service, method);
    if (random(8) === 0) rig.cloud.document = { ...(rig.cloud.document as object), services: [] };
    // Sometimes shorter than the time to apply it.
    await systemClock.sleep(random(250));
  }
  rig.edit({});
  await sends(rig);
  await captured(rig);
  await producesNothing(rig, { capture_disabled: true });
  await expectNothingLost(rig);
});

const big = 'x'.repeat(1_500);

const probe = (method: object = {}): object => ({
  ...{ name: 'probe', api, model: fake, attributes: { readings: { big } } },
  service_configs: [
    {
      type: 'data_manager',
      attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: 20, ...method }] },
    },
  ],
});

const dataManager = (attributes: object): object => ({
  services: [{ name: 'dm', api: 'core:service:data_manager', model: 'core:builtin:builtin', attributes }],
});

/** Records when uploads of a component arrived, and how many readings they had. */
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

test.concurrent('without attributes, the data manager and capture methods have the defaults of the specification', async () => {
  await using cloud = await startFakeCloud({});
  await using machine = await Machine.create();
  const [extra, other] = [machine.path('extra'), machine.path('other')];
  await Promise.all([mkdir(extra), mkdir(other)]);
  // The paths have no default, and are needed to see when a file counts as unmodified.
  cloud.document = { components: [probe()], ...dataManager({ additional_sync_paths: [extra] }) };
  const seen = watch(cloud, 'probe');
  const run = await machine.run({ document: credentials(cloud) });
  await writeFile(join(other, 'note'), 'hello');
  await writeFile(join(extra, 'note'), 'hello');
  const writtenMs = performance.now();
  await until('the file', () => cloud.files.has(join(extra, 'note')));
  // 10 s; its modification time is slightly earlier than ours.
  expect(performance.now() - writtenMs).toBeGreaterThan(9_500);
  await until('uploads', () => seen.atMs.length >= 2);
  expect([tagsOf(cloud, 'probe'), [...cloud.files.keys()]]).toEqual([[], [join(extra, 'note')]]);
  expect(existsSync(machine.path('capture'))).toBe(true);
  // At 20 Hz, 6 s have 120 readings of 1,500 bytes, which fit into one file.
  expect(Math.max(...seen.readings)).toBeGreaterThan(20);
  expect(run.count('is ignored')).toBe(0);
});

test.concurrent('a wrong value of each attribute of the data manager and of capture methods is reported with its path', async () => {
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
  const run = await machine.run({ document: { components: [probe(ofMethod)], ...dataManager(ofService) } });
  const { configError } = await run.link.client(RobotService).getMachineStatus({});
  const method = 'components[0].service_configs[0].attributes.capture_methods[0]';
  const paths = [
    ...Object.keys(ofMethod).map((key) => `${method}.${key}`),
    ...Object.keys(ofService).map((key) => `services[0].attributes.${key}`),
  ];
  // The status lists the first 20 of them, and counts the others.
  const shown = paths.filter((path) => configError.includes(path));
  expect([shown.length, /and (\d+) more/.exec(configError)?.[1]]).toEqual([20, String(paths.length - 20)]);
});

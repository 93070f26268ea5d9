/** One row for each attribute of the data manager and of capture methods: an edit of the configuration of a running server, and what it changes outside. */
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlatformError, systemClock } from '@platform/base';
import { parse } from '@platform/machine-config/parse';
import { type Gap, GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import type { Sensor } from '@platform/resources';
import { type DocumentServer, startDocumentServer } from '@platform/testkit';
import { expect, test } from 'vitest';
import type { MachineServer } from '../../compose.ts';
import type { Model } from '../../graph/model.ts';
import { type FakeCloud, startFakeCloud } from '../../testing/fake-cloud.ts';
import { createTestHome, patientClock, startTestServer, until } from '../../testing/start-test-server.ts';

const api = 'core:component:sensor';
const [manager, model] = ['core:service:data_manager', 'test:sensor:count'];

/** Each reading has the next number, whatever happens to the sensor. */
function countingModel(): { readonly model: Model; produced(): number } {
  let next = 0;
  const sensor: Sensor = {
    readings: () => ({ n: next++ }),
    doCommand: async (command) => command,
    close: async () => {},
  };
  return { model: { api, model, build: async () => sensor }, produced: () => next };
}

function documentWith(service: object, method: object = {}): Record<string, unknown> {
  const capture_methods = [{ method: 'Readings', capture_frequency_hz: 50, ...method }];
  return {
    components: [
      { name: 'counter', api, model, service_configs: [{ type: 'data_manager', attributes: { capture_methods } }] },
      { name: 'gate', api, model: 'core:builtin:fake', attributes: { readings: { should_sync: false } } },
      { name: 'open', api, model: 'core:builtin:fake', attributes: { readings: { should_sync: true } } },
    ],
    services: [
      {
        ...{ name: 'dm', api: manager, model: 'core:builtin:builtin' },
        attributes: { sync_interval_mins: 0.002, ...service },
      },
    ],
  };
}

interface Rig {
  readonly cloud: FakeCloud;
  readonly server: MachineServer;
  readonly home: string;
  readonly database: DocumentServer;
  readonly produced: () => number;
  /** Edits the configuration, and resolves once capture goes on. */
  edit(service: object, method?: object): void;
}

const names = async (folder: string): Promise<string[]> => readdir(folder, { recursive: true }).catch(() => []);
const sealed = async (folder: string): Promise<string[]> =>
  (await names(folder)).filter((name) => name.endsWith('.capture'));
/** Resolves once `more` readings were taken. */
async function captured({ produced }: Rig, more = 20): Promise<void> {
  const wanted = produced() + more;
  await until(`${more} more readings`, () => produced() >= wanted);
}
/** Resolves once sync sends nothing any more, and 20 more readings were taken meanwhile. */
async function sendsNothing(rig: Rig): Promise<void> {
  for (let before = -1; before !== rig.cloud.attempts; await captured(rig)) before = rig.cloud.attempts;
}
async function sends(
  { cloud }: Rig,
  holds: (upload: FakeCloud['stored'][number]) => boolean = () => true,
): Promise<void> {
  const from = cloud.stored.length;
  await until('an upload', () => cloud.stored.slice(from).some(holds));
}

const rows: Readonly<Record<string, (rig: Rig) => Promise<void>>> = {
  async defaults(rig) {
    await sends(rig, ({ metadata }) => metadata.tags.length === 0 && metadata.methodName === 'Readings');
    expect(await names(join(rig.home, 'capture', 'core_component_sensor', 'counter', 'Readings'))).not.toEqual([]);
    expect(rig.database.connections).toBe(0);
  },
  async capture_disabled(rig) {
    rig.edit({ capture_disabled: true });
    await until('no capture', () => rig.server.capture.status().length === 0);
    const before = rig.produced();
    rig.edit({});
    await until('capture', () => rig.produced() > before);
  },
  async capture_dir(rig) {
    const capture_dir = join(rig.home, 'elsewhere');
    rig.edit({ capture_dir });
    await until('files there', async () => (await names(capture_dir)).some((name) => /\.(prog|capture)$/.test(name)));
    await sends(rig);
  },
  async tags(rig) {
    rig.edit({ tags: ['line-1', 'a_b'] });
    await sends(rig, ({ metadata }) => metadata.tags.join() === 'line-1,a_b');
  },
  async 'tags of a method'(rig) {
    rig.edit({ tags: ['line-1'] }, { tags: ['own'] });
    await sends(rig, ({ metadata }) => metadata.tags.join() === 'line-1,own');
  },
  async sync_disabled(rig) {
    rig.edit({ sync_disabled: true });
    await until('sync is off', () => !rig.server.sync.sends);
    await sendsNothing(rig);
    rig.edit({});
    await sends(rig);
  },
  async sync_interval_mins(rig) {
    rig.edit({ sync_interval_mins: 60 });
    await sendsNothing(rig);
    rig.edit({});
    await sends(rig);
  },
  async selective_syncer_name(rig) {
    rig.edit({ selective_syncer_name: 'gate' });
    await until('held', () => rig.server.sync.heldReason !== undefined);
    await sendsNothing(rig);
    rig.edit({ selective_syncer_name: 'open' });
    await sends(rig);
  },
  async additional_sync_paths(rig) {
    const folder = join(rig.home, 'extra');
    await mkdir(folder);
    await writeFile(join(folder, 'a.txt'), 'text');
    rig.edit({ additional_sync_paths: [folder], file_last_modified_millis: 0 });
    await until('the file', () => rig.cloud.files.size === 1);
    await until('an empty folder', async () => (await names(folder)).length === 0);
  },
  async file_last_modified_millis(rig) {
    const folder = join(rig.home, 'extra');
    rig.edit({ tags: ['later'], additional_sync_paths: [folder], file_last_modified_millis: 3_600_000 });
    await sends(rig, ({ metadata }) => metadata.tags.join() === 'later');
    await writeFile(join(folder, 'b.txt'), 'text');
    await captured(rig, 40);
    expect(await names(folder)).toEqual(['b.txt']);
    rig.edit({ additional_sync_paths: [folder], file_last_modified_millis: 0 });
    await until('an empty folder', async () => (await names(folder)).length === 0);
  },
  async maximum_capture_file_size_bytes(rig) {
    const capture_dir = join(rig.home, 'small');
    rig.edit({ capture_dir, sync_disabled: true, maximum_capture_file_size_bytes: 1_000 });
    await until('full files', async () => (await sealed(capture_dir)).length >= 3);
    for (const name of await sealed(capture_dir))
      expect((await stat(join(capture_dir, name))).size).toBeLessThan(1_400);
  },
  async maximum_num_sync_threads(rig) {
    const capture_dir = join(rig.home, 'small');
    const full = { capture_dir, maximum_capture_file_size_bytes: 600 };
    const mostAtOnce = async (threads: number): Promise<number> => {
      rig.edit({ ...full, sync_disabled: true });
      await until('waiting files', async () => (await sealed(capture_dir)).length >= 36);
      let [now, most] = [0, 0];
      const released = Promise.withResolvers<void>();
      rig.cloud.before = async () => {
        most = Math.max(most, ++now);
        await released.promise;
        now--;
      };
      rig.edit({ ...full, maximum_num_sync_threads: threads });
      await until('uploads', () => now >= 16 * threads);
      await captured(rig);
      released.resolve();
      await until('nothing waits', async () => (await sealed(capture_dir)).length < 4);
      rig.cloud.before = () => {};
      return most;
    };
    expect(await mostAtOnce(1)).toBe(16);
    expect(await mostAtOnce(2)).toBe(32);
  },
  async 'docdb_capture_config.uri, .database, .collection'(rig) {
    const { database } = rig;
    rig.edit({ docdb_capture_config: { uri: database.uri } });
    await until('documents', () => (database.collections.get('sensorData.readings')?.size ?? 0) > 0);
    rig.edit({ docdb_capture_config: { uri: database.uri, database: 'plant', collection: 'press' } });
    await until('documents', () => (database.collections.get('plant.press')?.size ?? 0) > 0);
  },
  async 'disk_usage_deletion_threshold, capture_dir_deletion_threshold, delete_every_nth_when_disk_full'(rig) {
    const capture_dir = join(rig.home, 'full');
    const base = { capture_dir, sync_disabled: true, maximum_capture_file_size_bytes: 600 };
    rig.edit({ ...base, disk_usage_deletion_threshold: 0, capture_dir_deletion_threshold: 1 });
    await until('files', async () => (await sealed(capture_dir)).length >= 6);
    rig.edit({ ...base, disk_usage_deletion_threshold: 1, capture_dir_deletion_threshold: 0 });
    await captured(rig, 40);
    expect(discardedIn(rig)).toEqual([]);
    rig.edit({
      ...base,
      disk_usage_deletion_threshold: 0,
      capture_dir_deletion_threshold: 0,
      delete_every_nth_when_disk_full: 3,
    });
    await until('discarded readings', () => discardedIn(rig).length > 0);
    rig.edit({});
    await sends(rig);
  },
  async 'readings that the cloud refuses are a gap'({ cloud }) {
    cloud.before = () => {
      cloud.before = () => {};
      throw new PlatformError('invalid_argument', 'not these');
    };
    await until('the gap', () => [...cloud.gaps.values()].some(({ reason }) => reason === GapReason.REFUSED));
  },
  async disabled(rig) {
    rig.edit({}, { disabled: true });
    await until('no capture', () => rig.server.capture.status().length === 0);
    rig.edit({});
    await captured(rig);
  },
  async capture_frequency_hz(rig) {
    rig.edit({}, { capture_frequency_hz: 1e-6 });
    await until('the new plan', () => rig.server.capture.status()[0]?.taken === 0);
    const before = rig.produced();
    rig.edit({}, { capture_frequency_hz: 200 });
    await until('readings', () => rig.produced() > before + 20);
  },
  async capture_directory(rig) {
    const capture_directory = join(rig.home, 'own');
    rig.edit({}, { capture_directory });
    await until('files', async () => (await names(capture_directory)).some((name) => /\.(prog|capture)$/.test(name)));
    await sends(rig);
  },
  async capture_buffer_size(rig) {
    const capture_directory = join(rig.home, 'unbuffered');
    rig.edit({ sync_disabled: true }, { capture_directory, capture_buffer_size: 0 });
    const size = async (): Promise<number> => {
      const [name] = (await names(capture_directory)).filter((each) => each.endsWith('.prog'));
      return name === undefined ? 0 : (await stat(join(capture_directory, name))).size;
    };
    await until('bytes on the disk', async () => (await size()) > 0);
    rig.edit({});
    await sends(rig);
  },
  async capture_queue_size(rig) {
    rig.edit({}, { capture_queue_size: 1 });
    await sends(rig);
  },
  async 'recent_data_store and retention_policy'(rig) {
    rig.edit({}, { recent_data_store: { stored_hours: 1 } });
    await sends(rig);
  },
};

function discardedIn({ cloud }: Rig): Gap[] {
  return [...cloud.gaps.values()].filter(({ reason }) => reason === GapReason.DISCARDED);
}

/** Deletion looks at the disk every 200 ms, and gaps are told every 100 ms. */
const quickClock = {
  ...patientClock,
  every: (ms: number, run: () => void) => patientClock.every(ms === 30_000 ? 200 : ms, run),
  after: (ms: number, run: () => void) => patientClock.after(ms === 10_000 ? 100 : ms, run),
};

async function start(stack: AsyncDisposableStack): Promise<Rig & { readonly stop: () => Promise<void> }> {
  const counting = countingModel();
  const cloud = stack.use(await startFakeCloud(documentWith({})));
  const home = stack.use(await createTestHome(cloud.url));
  const database = stack.use(await startDocumentServer());
  const server = stack.use(await startTestServer(home, quickClock, { types: [], models: [counting.model] }));
  return {
    ...{ cloud, server, home: home.path, database, produced: counting.produced },
    edit: (service, method) => {
      cloud.document = documentWith(service, method);
    },
    stop: async () => {
      await server[Symbol.asyncDispose]();
    },
  };
}

/** What was produced is in the cloud, once each, or in a gap. Ticks that took no reading produced none. */
function expectNothingLost({ cloud, produced }: Rig): void {
  const stored = cloud.readings().map(({ n }) => Number(n));
  expect(new Set(stored).size).toBe(stored.length);
  const gone = [...cloud.gaps.values()]
    .filter(({ reason }) => reason === GapReason.DISCARDED || reason === GapReason.REFUSED)
    .reduce((sum, { readings }) => sum + Number(readings), 0);
  expect(stored.length + gone).toBe(produced());
  expect(cloud.breaches).toEqual([]);
}

test('every attribute takes effect by an edit of the configuration, without a restart, and no reading is lost or doubled', async () => {
  await using stack = new AsyncDisposableStack();
  const rig = await start(stack);
  for (const [name, row] of Object.entries(rows)) {
    try {
      await row(rig);
    } catch (caught) {
      throw new Error(`${name}: ${String(caught)}`, { cause: caught });
    }
    rig.edit({});
  }
  await until('sync', () => rig.server.sync.sends);
  await captured(rig);
  await rig.stop();
  expectNothingLost(rig);
  const documents = [...rig.database.collections.values()].flatMap((each) => [...each.values()]);
  const numbers = documents.map(({ data }) => data.readings.n);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test('whatever is edited while a sensor is captured, no reading is lost or doubled', async () => {
  await using stack = new AsyncDisposableStack();
  const rig = await start(stack);
  let seed = 20_261_125;
  const random = (most: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * most);
  };
  const pick = <T>(...values: readonly T[]): T => values[random(values.length)] as T;
  for (let edits = 0; edits < 40; edits++) {
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
    // Sometimes shorter than it takes to apply it.
    await systemClock.sleep(random(250));
  }
  rig.edit({});
  await until('sync', () => rig.server.sync.sends);
  await captured(rig);
  await rig.stop();
  expectNothingLost(rig);
});

const said = (path: string, expected: string, found: string): [string, string] => [
  path,
  `expected ${expected}, found ${found}`,
];
const own = 'services[0].attributes';
const ofMethod = 'components[0].service_configs[0].attributes.capture_methods[0]';
/** A wrong value, where it is, and what is said of it. */
const wrong: readonly [service: object, method: object, path: string, message: string][] = [
  [{ capture_disabled: 1 }, {}, ...said(`${own}.capture_disabled`, 'true or false', '1')],
  [{ capture_dir: 5 }, {}, ...said(`${own}.capture_dir`, 'a string', '5')],
  [{ tags: ['a b'] }, {}, ...said(`${own}.tags[0]`, 'a tag of letters, digits, underscores and dashes', '"a b"')],
  [{ sync_disabled: 'no' }, {}, ...said(`${own}.sync_disabled`, 'true or false', '"no"')],
  [{ additional_sync_paths: ['x/y'] }, {}, ...said(`${own}.additional_sync_paths[0]`, 'an absolute path', '"x/y"')],
  [{ sync_interval_mins: -1 }, {}, ...said(`${own}.sync_interval_mins`, 'a number of at least 0', '-1')],
  [{ selective_syncer_name: 1 }, {}, ...said(`${own}.selective_syncer_name`, 'a string', '1')],
  [
    { delete_every_nth_when_disk_full: 0 },
    {},
    ...said(`${own}.delete_every_nth_when_disk_full`, 'a whole number of at least 1', '0'),
  ],
  [
    { maximum_num_sync_threads: 1.5 },
    {},
    ...said(`${own}.maximum_num_sync_threads`, 'a whole number of at least 0', '1.5'),
  ],
  [
    { docdb_capture_config: { uri: 'http://user:pass@h' } },
    {},
    ...said(
      `${own}.docdb_capture_config.uri`,
      'an address that begins with mongodb:// or mongodb+srv://',
      'something else',
    ),
  ],
  [{ docdb_capture_config: { database: 1 } }, {}, ...said(`${own}.docdb_capture_config.database`, 'a string', '1')],
  [{ docdb_capture_config: { collection: 1 } }, {}, ...said(`${own}.docdb_capture_config.collection`, 'a string', '1')],
  [
    { maximum_capture_file_size_bytes: '1' },
    {},
    ...said(`${own}.maximum_capture_file_size_bytes`, 'a whole number of at least 1', '"1"'),
  ],
  [
    { file_last_modified_millis: -1 },
    {},
    ...said(`${own}.file_last_modified_millis`, 'a whole number of at least 0', '-1'),
  ],
  [
    { disk_usage_deletion_threshold: 90 },
    {},
    ...said(`${own}.disk_usage_deletion_threshold`, 'a number from 0 to 1', '90'),
  ],
  [
    { capture_dir_deletion_threshold: -0.1 },
    {},
    ...said(`${own}.capture_dir_deletion_threshold`, 'a number from 0 to 1', '-0.1'),
  ],
  [{ delete_data_on_part_deletion: 1 }, {}, ...said(`${own}.delete_data_on_part_deletion`, 'true or false', '1')],
  [{}, { capture_frequency_hz: -1 }, ...said(`${ofMethod}.capture_frequency_hz`, 'a number of at least 0', '-1')],
  [{}, { additional_params: [] }, ...said(`${ofMethod}.additional_params`, 'an object', '[]')],
  [{}, { disabled: 'yes' }, ...said(`${ofMethod}.disabled`, 'true or false', '"yes"')],
  [{}, { tags: 'x' }, ...said(`${ofMethod}.tags`, 'a list of strings', '"x"')],
  [{}, { capture_directory: 1 }, ...said(`${ofMethod}.capture_directory`, 'a string', '1')],
  [{}, { capture_queue_size: -1 }, ...said(`${ofMethod}.capture_queue_size`, 'a whole number of at least 0', '-1')],
  [{}, { capture_buffer_size: 0.5 }, ...said(`${ofMethod}.capture_buffer_size`, 'a whole number of at least 0', '0.5')],
  [
    {},
    { method: 'DoCommand' },
    `${ofMethod}.additional_params.docommand_input`,
    'expected an object (the command), found nothing',
  ],
  [{}, { cache_size_kb: -1 }, ...said(`${ofMethod}.cache_size_kb`, 'a number of at least 0', '-1')],
  [
    {},
    { recent_data_store: { stored_hours: -1 } },
    ...said(`${ofMethod}.recent_data_store.stored_hours`, 'a number of at least 0', '-1'),
  ],
];

test.each(wrong)('a wrong value is named with its path: %j %j', (service, method, path, message) => {
  const { problems } = parse(documentWith(service, method));
  expect(problems).toContainEqual(expect.objectContaining({ path, message }));
});

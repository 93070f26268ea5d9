/**
 * The attributes of the data manager and of capture methods that the specification lists, in the real process: each is edited while it runs,
 * and changes something outside. Readings come from a source outside, so that what was produced is known.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlatformError, systemClock } from '@platform/base';
import { type Gap, GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import {
  accountFor,
  type DocumentServer,
  Ledger,
  type LedgerReading,
  type LedgerSource,
  layeredDisk,
  type SmallDisk,
  startDocumentServer,
  startLedgerSource,
} from '@platform/testkit';
import { expect, test } from 'vitest';
import { type FakeCloud, partId, startFakeCloud } from './testing/fake-cloud.ts';
import { Machine, type Run } from './testing/options/machine-run.ts';
import { until } from './testing/start-test-server.ts';

const api = 'core:component:sensor';
const fake = 'core:builtin:fake';
/** Makes each edit another revision. */
let edits = 0;

function documentWith(url: string, service: object, method: object = {}): Record<string, unknown> {
  const capture_methods = [{ method: 'Readings', capture_frequency_hz: 50, ...method }];
  const service_configs = [{ type: 'data_manager', attributes: { capture_methods } }];
  return {
    components: [
      { name: 'counter', api, model: 'core:builtin:http', attributes: { url }, service_configs },
      { name: 'gate', api, model: fake, attributes: { readings: { should_sync: false } } },
      { name: 'open', api, model: fake, attributes: { readings: { should_sync: true } } },
      { name: 'marker', api, model: fake, attributes: { readings: { edits: edits++ } } },
    ],
    services: [
      {
        ...{ name: 'dm', api: 'core:service:data_manager', model: 'core:builtin:builtin' },
        attributes: { sync_interval_mins: 0.002, ...service },
      },
    ],
  };
}

const credentials = (cloud: FakeCloud): object => ({
  cloud: { id: partId, secret: 'secret', app_address: cloud.url, refresh_interval: '100ms' },
});

interface Rig {
  readonly cloud: FakeCloud;
  readonly run: Run;
  readonly home: string;
  readonly database: DocumentServer;
  readonly source: LedgerSource;
  /** What is captured into it goes to a disk that can be full. */
  readonly disk: SmallDisk;
  readonly produced: () => number;
  /** Edits the configuration. */
  edit(service: object, method?: object): void;
  /** Edits it, and resolves once that runs. */
  applied(service: object, method?: object): Promise<void>;
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

/** Resolves once no reading is taken any more while edits are applied. */
async function producesNothing(rig: Rig, service: object, method: object = {}): Promise<void> {
  for (let before = -1; before !== rig.produced(); ) {
    before = rig.produced();
    await rig.applied(service, method);
    await rig.applied(service, method);
  }
}

const rows: Readonly<Record<string, (rig: Rig) => Promise<void>>> = {
  async defaults(rig) {
    await sends(rig, ({ metadata }) => metadata.tags.length === 0 && metadata.methodName === 'Readings');
    expect(await names(join(rig.home, 'capture', 'core_component_sensor', 'counter', 'Readings'))).not.toEqual([]);
    expect(rig.database.connections).toBe(0);
  },
  async capture_disabled(rig) {
    await producesNothing(rig, { capture_disabled: true });
    rig.edit({});
    await captured(rig);
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
    await producesNothing(rig, {}, { disabled: true });
    rig.edit({});
    await captured(rig);
  },
  async capture_frequency_hz(rig) {
    await producesNothing(rig, {}, { capture_frequency_hz: 1e-6 });
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
    // A file with a buffer grows when it is full or written out, one without at each reading.
    const growths = async (capture_buffer_size: number): Promise<number> => {
      const capture_directory = join(rig.home, `buffer-${capture_buffer_size}`);
      await rig.applied({ sync_disabled: true }, { capture_directory, capture_buffer_size });
      await until('an open file', async () => (await names(capture_directory)).some((name) => name.endsWith('.prog')));
      const sizes = new Set<number>();
      const wanted = rig.produced() + 100;
      while (rig.produced() < wanted) {
        sizes.add(await bytesBelow(capture_directory));
        await systemClock.sleep(3);
      }
      return sizes.size;
    };
    const [without, withBuffer] = [await growths(0), await growths(1_000_000)];
    expect(without).toBeGreaterThan(2 * withBuffer);
    rig.edit({});
    await sends(rig);
  },
  async capture_queue_size(rig) {
    // While its disk is full, so many readings wait; after that, no more are taken.
    const takenWhileFull = async (capture_queue_size: number): Promise<number> => {
      const capture_directory = join(rig.disk.path, String(capture_queue_size));
      const method = { capture_directory, capture_queue_size, capture_buffer_size: 0 };
      await rig.applied({ sync_disabled: true }, method);
      await until('a file', async () => (await names(capture_directory)).some((name) => name.endsWith('.prog')));
      rig.disk.fill(0);
      const failures = (): number => rig.run.count('writing captured readings failed');
      const before = failures();
      await until('a failed write', () => failures() > before);
      const from = rig.produced();
      for (let last = -1; last !== rig.produced(); ) {
        last = rig.produced();
        const seen = failures();
        await until('another failed write', () => failures() > seen);
      }
      rig.disk.empty();
      return rig.produced() - from;
    };
    const few = await takenWhileFull(5);
    rig.edit({});
    await sends(rig);
    expect(await takenWhileFull(60)).toBeGreaterThan(few + 20);
    rig.edit({});
    await sends(rig);
  },
  async additional_params(rig) {
    const docommand_input = { set: { marked: 7 } };
    rig.cloud.document = withCommand(rig.cloud.document, docommand_input);
    await until('the command', () =>
      rig.cloud.stored.some(
        ({ metadata: { componentName, methodName, methodParameters }, readings }) =>
          componentName === 'marker' &&
          methodName === 'DoCommand' &&
          'docommand_input' in methodParameters &&
          readings.some(({ data }) => JSON.stringify(data.value).includes('"marked":7')),
      ),
    );
  },
  async 'recent_data_store and retention_policy'(rig) {
    rig.edit({}, { recent_data_store: { stored_hours: 1 } });
    await sends(rig);
  },
};

/** The configuration, with a captured command. */
function withCommand(document: unknown, docommand_input: object): object {
  const { components, ...more } = document as { readonly components: readonly { readonly name: string }[] };
  const capture_methods = [{ method: 'DoCommand', capture_frequency_hz: 20, additional_params: { docommand_input } }];
  const service_configs = [{ type: 'data_manager', attributes: { capture_methods } }];
  return { ...more, components: components.map((one) => (one.name === 'marker' ? { ...one, service_configs } : one)) };
}

async function bytesBelow(directory: string): Promise<number> {
  const sizes = await Promise.all(
    (await names(directory)).map((name) => stat(join(directory, name)).catch(() => undefined)),
  );
  return sizes.reduce((sum, each) => sum + (each?.isFile() ? each.size : 0), 0);
}

function discardedIn({ cloud }: Rig): Gap[] {
  return [...cloud.gaps.values()].filter(({ reason }) => reason === GapReason.DISCARDED);
}

async function start(stack: AsyncDisposableStack): Promise<Rig> {
  const source = stack.use(await startLedgerSource(new Ledger()));
  const url = source.url('machine', 'counter');
  const cloud = stack.use(await startFakeCloud(documentWith(url, {})));
  const machine = stack.use(await Machine.create());
  const database = stack.use(await startDocumentServer());
  const disk = stack.use(layeredDisk(16 * 1024 * 1024));
  const run = await machine.run({ document: credentials(cloud), env: disk.env });
  const edit = (service: object, method?: object): void => {
    cloud.document = documentWith(url, service, method);
  };
  return {
    ...{ cloud, run, home: machine.home, database, source, disk, edit },
    produced: () => source.produced.length,
    async applied(service, method) {
      const before = run.count('configuration applied');
      edit(service, method);
      await until('an applied configuration', () => run.count('configuration applied') > before);
    },
  };
}

/** Reasons for which a reading that was produced may be missing; of the first two, the number is exact. */
const lossReasons: readonly GapReason[] = [
  GapReason.DISCARDED,
  GapReason.REFUSED,
  GapReason.MISSED,
  GapReason.FAILED,
  GapReason.QUEUE_FULL,
];

/** Resolves once what was produced is in the cloud, once each, or in a gap. */
async function expectNothingLost({ cloud, source }: Rig): Promise<void> {
  const stored = (): LedgerReading[] =>
    cloud.stored
      .filter(({ metadata }) => metadata.componentName === 'counter')
      .flatMap(({ readings }) =>
        readings.map(({ data }) => (data.value as unknown as { readings: LedgerReading }).readings),
      );
  const gaps = () =>
    [...cloud.gaps.values()]
      .filter(({ reason }) => lossReasons.includes(reason))
      .map(({ componentName, reason, start, end, readings }) => ({
        ...{ component: componentName, reason: String(reason), isBound: lossReasons.indexOf(reason) > 1 },
        ...{
          startMs: Number(start?.seconds) * 1e3,
          endMs: Number(end?.seconds) * 1e3 + 1e3,
          readings: Number(readings),
        },
      }));
  const missing = (): unknown[] => {
    const { unexplained } = accountFor({ produced: source.produced, stored: stored(), gaps: gaps(), slackMs: 1_000 });
    return [...unexplained];
  };
  await until('an account of everything', () => missing().length === 0);
  const seqs = stored().map(({ seq }) => Number(seq));
  expect(new Set(seqs).size).toBe(seqs.length);
  expect(cloud.breaches).toEqual([]);
}

test.concurrent('every attribute takes effect by an edit of the configuration, without a restart, and no reading is lost or doubled', async () => {
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
  await sends(rig);
  await captured(rig);
  await producesNothing(rig, { capture_disabled: true });
  await expectNothingLost(rig);
  const documents = [...rig.database.collections.values()].flatMap((each) => [...each.values()]);
  const numbers = documents.map(({ data }) => data.readings.seq);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test.concurrent('whatever is edited while a sensor is captured, no reading is lost or doubled', async () => {
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
  const run = await machine.run({ document: { components: [probe(ofMethod)], ...dataManager(ofService) } });
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

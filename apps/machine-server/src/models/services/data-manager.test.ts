import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from '@platform/machine-config/parse';
import { expect, onTestFinished, test } from 'vitest';
import type { MachineServer } from '../../compose.ts';
import { startFakeCloud } from '../../testing/fake-cloud.ts';
import { countingDocument, createTestHome, startTestServer, until } from '../../testing/start-test-server.ts';

type Document = { components: object[]; services: object[] };

const sensor = { api: 'core:component:sensor', model: 'core:builtin:fake' };
const dataManager = { api: 'core:service:data_manager', model: 'core:builtin:builtin' };
const counter = 'core:component:sensor/counter Readings {}';
const captured = {
  service_configs: [
    { type: 'data_manager', attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz: 1 }] } },
  ],
};

function change({ graph }: MachineServer, edit: (document: Document) => void): Promise<void> {
  const document = countingDocument(100) as unknown as Document;
  edit(document);
  const { config } = parse(document);
  return graph.apply([...config.components, ...config.services], 'edited');
}

test('an unchanged collector continues undisturbed while others start, its sensor is rebuilt, or the data manager changes', async () => {
  await using cloud = await startFakeCloud(countingDocument(100));
  await using home = await createTestHome(cloud.url);
  await using server = await startTestServer(home);
  const taken = (): number => server.capture.status().find(({ key }) => key === counter)?.taken ?? 0;
  const edits: ((document: Document) => void)[] = [
    ({ components }) => components.push({ name: 'other', ...sensor, ...captured }),
    ({ components }) => Object.assign(components[0] ?? {}, { attributes: { readings: { a: 9 }, wave: true } }),
    ({ components }) => components.push({ name: 'broken', ...sensor, ...captured, model: 'core:builtin:none' }),
    ({ services }) => Object.assign(services[0] ?? {}, { attributes: { sync_interval_mins: 1 } }),
  ];
  for (const edit of edits) {
    // If it had restarted, it would have taken fewer.
    const before = taken() + 20;
    await until('more readings', () => taken() >= before);
    await change(server, edit);
    expect(taken()).toBeGreaterThanOrEqual(before);
  }
  expect(server.capture.status().every(({ failed }) => failed === 0)).toBe(true);
});

test('without a data manager nothing is captured; of two, the first one is used, and the second after the first is removed', async () => {
  await using cloud = await startFakeCloud(countingDocument(100));
  await using home = await createTestHome(cloud.url);
  await using server = await startTestServer(home);
  const keys = (): string[] => server.capture.status().map(({ key }) => key);
  const idle = { name: 'idle', ...dataManager, attributes: { capture_disabled: true } };
  expect(keys()).toEqual([counter]);
  await change(server, ({ services }) => services.push(idle));
  expect(keys()).toEqual([counter]);
  await change(server, (document) => {
    document.services = [idle];
  });
  expect(keys()).toEqual([]);
  await change(server, () => {});
  expect(keys()).toEqual([counter]);
  await change(server, (document) => {
    document.services = [];
  });
  expect(keys()).toEqual([]);
  expect(server.graph.errors()).toBe('');
});

test('a captured resource that cannot be built is told once, by the line about it, and counted at its readings', async () => {
  await using cloud = await startFakeCloud(countingDocument(100));
  await using home = await createTestHome(cloud.url);
  await using server = await startTestServer(home);
  await change(server, ({ components }) =>
    components.push({ name: 'broken', ...sensor, ...captured, model: 'core:builtin:none' }),
  );
  const broken = () => server.capture.status().find(({ key }) => key.includes('/broken '));
  await until('a failed reading', () => (broken()?.failed ?? 0) > 1);
  expect(broken()?.taken).toBe(0);
  const lines = (): string[] => cloud.logs.filter((line) => line.includes('sensor/broken'));
  const message = /^core:component:sensor\/broken could not be built; trying again: core:component:sensor has no model/;
  await until('the message in the cloud', () => lines().some((line) => message.test(line)));
  expect(lines().filter((line) => !message.test(line))).toEqual([]);
});

test('an unusable capture directory is reported to the cloud as an error of its captures', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'captured-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'file'), '');
  const directory = join(folder, 'file', 'captured');
  await using cloud = await startFakeCloud(countingDocument(10, { method: { capture_directory: directory } }));
  await using home = await createTestHome(cloud.url);
  await using _server = await startTestServer(home);
  await until('the report of an error', () => (cloud.reports?.at(-1)?.lastError ?? '') !== '');
  expect(cloud.reports?.at(-1)?.lastError).toMatch(
    new RegExp(`^core:component:sensor/counter: Readings is not captured into ${directory}: .*ENOTDIR`),
  );
});

test('while sync is off, capture files grow to their maximum size, and a stop sends nothing', async () => {
  const maxBytes = 8_192;
  const service = { sync_disabled: true, maximum_capture_file_size_bytes: maxBytes };
  await using cloud = await startFakeCloud(countingDocument(200, { service }));
  await using home = await createTestHome(cloud.url);
  const sealedBytes = async (): Promise<number[]> => {
    const names = await readdir(join(home.path, 'capture'), { recursive: true }).catch(() => []);
    const sealed = names.filter((name) => name.endsWith('.capture'));
    return Promise.all(sealed.map(async (name) => (await stat(join(home.path, 'capture', name))).size));
  };
  {
    await using _server = await startTestServer(home);
    await until('three full files', async () => (await sealedBytes()).length >= 3);
    for (const bytes of await sealedBytes()) {
      expect(bytes).toBeGreaterThan(maxBytes / 2);
      expect(bytes).toBeLessThan(maxBytes * 1.1);
    }
  }
  expect(cloud.attempts).toBe(0);
});

/** A window of one minute, half a day away from now. */
function closedWindow(): object {
  const [start, end] = [0, 60_000].map((ms) => {
    const at = new Date(Date.now() + 43_200_000 + ms);
    return [at.getHours(), at.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
  });
  return { start, end };
}

const time_window = closedWindow();

test.each([
  ['a closed sensor', { selective_syncer_name: 'gate' }],
  ['a rule about the network', { sync_rules: { network_interfaces: ['none'] } }],
  ['a closed window of time', { sync_rules: { time_window } }],
  ['sync_disabled', { sync_disabled: true }],
])(
  'D46 what %s holds back is not sent at a stop either, and is sent once by a later run that may',
  async (_what, held) => {
    const folder = await mkdtemp(join(tmpdir(), 'extra-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'notes.txt'), 'text');
    const extra = { additional_sync_paths: [folder], file_last_modified_millis: 0 };
    const document = (service: object): object => {
      const counting = countingDocument(100, { service: { ...extra, ...service } }) as unknown as Document;
      counting.components.push({ name: 'gate', ...sensor, attributes: { readings: { should_sync: false } } });
      Object.assign(counting.services[0] ?? {}, { depends_on: ['gate'] });
      return counting;
    };
    await using cloud = await startFakeCloud(document(held));
    await using home = await createTestHome(cloud.url);
    const run = async (enough: (taken: number) => boolean): Promise<void> => {
      await using server = await startTestServer(home);
      await until('readings', () => enough(server.capture.status().find(({ key }) => key === counter)?.taken ?? 0));
    };
    await run((taken) => taken >= 50);
    expect([cloud.attempts, cloud.files.size, await readdir(folder)]).toEqual([0, 0, ['notes.txt']]);

    cloud.document = document({});
    await run((taken) => taken >= 10 && cloud.files.size === 1 && cloud.readings().some(({ count }) => count === 50));
    expect([cloud.files.size, await readdir(folder)]).toEqual([1, []]);
    // The sensor counts each run from 1, and the second run was shorter or longer than the first.
    const counts = cloud.readings().map(({ count }) => Number(count));
    const times = Map.groupBy(counts, (count) => count);
    const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
    const twice = counts.length - times.size;
    expect(twice).toBeGreaterThanOrEqual(10);
    expect(counts.toSorted((a, b) => a - b)).toEqual([...upTo(twice), ...upTo(times.size)].toSorted((a, b) => a - b));
    expect(cloud.breaches).toEqual([]);
  },
);

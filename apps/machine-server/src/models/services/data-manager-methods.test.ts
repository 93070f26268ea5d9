import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, PlatformError } from '@platform/base';
import { MimeType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { DataManagerService } from '@platform/proto/platform/service/datamanager/v1/data_manager';
import { type Client, connect } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { type FakeCloud, startFakeCloud } from '../../testing/fake-cloud.ts';
import {
  countingDocument,
  createTestHome,
  patientClock,
  startTestServer,
  until,
} from '../../testing/start-test-server.ts';

interface Rig {
  readonly cloud: FakeCloud;
  readonly client: Client<typeof DataManagerService>;
  readonly home: string;
  status(): Promise<Record<string, unknown>>;
  /** The status page. */
  page(): Promise<string>;
}

async function start(service: object, hz = 50, clock: Clock = patientClock): Promise<Rig> {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const cloud = stack.use(await startFakeCloud(countingDocument(hz, { service })));
  const home = stack.use(await createTestHome(cloud.url));
  const server = stack.use(await startTestServer(home, clock));
  const url = `http://127.0.0.1:${server.serving.port}`;
  const link = stack.use(connect({ baseUrl: url }));
  const client = link.client(DataManagerService);
  await until('the configuration', () => cloud.logs.includes('configuration applied'));
  const status = async (): Promise<Record<string, unknown>> => ({ ...(await client.getStatus({ name: 'dm' })).result });
  const page = async (): Promise<string> => (await fetch(url)).text();
  return { cloud, client, home: home.path, status, page };
}

const counter = 'core:component:sensor/counter';

test('Sync sends captured data, even with sync_disabled; GetStatus reports waiting and sent data', async () => {
  const { cloud, client, status } = await start({ sync_disabled: true });
  const of = async (): Promise<Record<string, unknown>> =>
    ((await status())['resources'] as Record<string, Record<string, unknown>>)[counter] ?? {};
  await until('a waiting file', async () => Number((await of())['waiting_files']) > 0);
  expect(await status()).toMatchObject({ state: 'off', uploaded_files: 0 });
  expect(Date.parse(String((await of())['oldest_waiting']))).toBeGreaterThan(Date.now() - 120_000);
  expect(cloud.attempts).toBe(0);
  await client.sync({ name: 'dm' });
  expect(cloud.stored.length).toBeGreaterThan(0);
  expect(Number((await of())['uploaded_readings'])).toBeGreaterThan(0);
  expect(Number((await of())['captured'])).toBeGreaterThan(0);
});

test('captured readings are counted from the start of the server, even across a configuration that restarts or ends capture', async () => {
  const { cloud, status } = await start({});
  const captured = async (): Promise<number> => Number((await status())['captured']);
  await until('readings', async () => (await captured()) >= 50);
  for (const [hz, service] of [
    [20, {}],
    [20, { capture_disabled: true }],
  ] as const) {
    const before = await captured();
    const { length } = cloud.logs.filter((line) => line === 'configuration applied');
    cloud.document = countingDocument(hz, { service });
    await until('the edit', () => cloud.logs.filter((line) => line === 'configuration applied').length > length);
    expect(await captured()).toBeGreaterThanOrEqual(before);
  }
});

test('D15 while the cloud is unavailable, GetStatus reports it with the last error and the next attempt', async () => {
  const { cloud, status } = await start({});
  cloud.before = () => {
    throw new PlatformError('unavailable', 'closed today');
  };
  await until('a failure', async () => String((await status())['last_error']).includes('closed today'));
  await until('a wait', async () => (await status())['next_attempt'] !== null);
  await until('its word', async () => (await status())['state'] === 'waiting for the cloud');
  cloud.before = () => {};
  await until('no failure', async () => (await status())['last_error'] === '');
  await until('its word', async () => (await status())['state'] === 'on');
});

test('selective_syncer_name and sync_rules hold sync back, and a change of the configuration releases it', async () => {
  const { cloud, status } = await start({ selective_syncer_name: 'absent' });
  await until('held', async () => String((await status())['state']).startsWith('held: the sensor "absent"'));
  expect(cloud.attempts).toBe(0);
  cloud.document = countingDocument(50, { service: { sync_rules: { network_interfaces: ['no-such0'] } } });
  await until('held by a rule', async () => String((await status())['state']).includes('no-such0'));
  expect(cloud.attempts).toBe(0);
  cloud.document = countingDocument(50);
  await until('readings in the cloud', () => cloud.stored.length > 0);
});

test('UploadBinaryDataToDatasets resolves once the cloud has the bytes, and refuses calls without bytes or datasets', async () => {
  const { cloud, client } = await start({});
  const call = { name: 'dm', binaryData: new Uint8Array([1, 2, 3]), tags: ['t'], datasetIds: ['d'] };
  await client.uploadBinaryDataToDatasets({ ...call, mimeType: MimeType.IMAGE_PNG });
  const [[name, bytes] = []] = [...cloud.files];
  expect(name).toMatch(/\.png$/);
  expect(bytes).toEqual(Buffer.from([1, 2, 3]));
  const code = 'invalid_argument';
  await expect(client.uploadBinaryDataToDatasets({ ...call, datasetIds: [] })).rejects.toMatchObject({ code });
  await expect(client.uploadBinaryDataToDatasets({ ...call, binaryData: new Uint8Array() })).rejects.toMatchObject({
    code,
  });
  await expect(client.sync({ name: 'other' })).rejects.toMatchObject({ code: 'not_found' });
});

test('files that were set aside are counted', async () => {
  const { cloud, status, home } = await start({});
  await until('a capture directory', () => cloud.stored.length > 0);
  await writeFile(
    join(home, 'capture', 'core_component_sensor', 'counter', 'Readings', 'x.capture'),
    'no capture file',
  );
  await until('a quarantined file', async () => (await status())['quarantined_files'] === 1);
});

test('the status page has the counts of GetStatus for each resource: captured, missed, queued, uploaded, waiting, set aside, discarded', async () => {
  const full = {
    ...{ disk_usage_deletion_threshold: 0, capture_dir_deletion_threshold: 0, delete_every_nth_when_disk_full: 2 },
    ...{ sync_disabled: true, maximum_capture_file_size_bytes: 200 },
  };
  // The disk is checked every 30 s.
  const hasty: Clock = { ...patientClock, every: (ms, run) => patientClock.every(ms === 30_000 ? 200 : ms, run) };
  const { client, home, status, page } = await start(full, 5, hasty);
  const of = async (): Promise<Record<string, unknown>> =>
    ((await status())['resources'] as Record<string, Record<string, unknown>>)[counter] ?? {};
  await until('discarded readings', async () => Number((await of())['discarded_readings']) > 0);
  await client.sync({ name: 'dm' });
  const folder = join(home, 'capture', 'failed', 'core_component_sensor', 'counter', 'Readings');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'x.capture'), 'no capture file');
  const fields = ['captured', 'missed', 'queued', 'uploaded_readings', 'waiting_files', 'quarantined_files'];
  const heads = [
    'Captured',
    'Missed',
    'Queued',
    'Uploaded',
    'Waiting files',
    'Set aside',
    'Discarded',
    'Oldest waiting',
  ];
  // The page is from a time between two answers, which are equal if nothing happens; capture continues, so this is retried.
  await until('the same counts', async () => {
    const before = JSON.stringify(await of());
    const text = await page();
    const { oldest_waiting, discarded_readings, ...counts } = await of();
    if (before !== JSON.stringify(await of())) return false;
    expect(text).toContain(heads.map((head) => `<th scope="col">${head}</th>`).join(''));
    const cells = [...fields.map((field) => counts[field]), discarded_readings, oldest_waiting ?? '', ''];
    expect(text).toContain(`<tr><td>${counter}</td>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`);
    return counts['quarantined_files'] === 1 && Number(counts['uploaded_readings']) > 0;
  });
});

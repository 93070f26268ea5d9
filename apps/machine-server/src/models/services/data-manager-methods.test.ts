import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlatformError } from '@platform/base';
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
}

async function start(service: object): Promise<Rig> {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const cloud = stack.use(await startFakeCloud(countingDocument(50, { service })));
  const home = stack.use(await createTestHome(cloud.url));
  const server = stack.use(await startTestServer(home, patientClock));
  const link = stack.use(connect({ baseUrl: `http://127.0.0.1:${server.serving.port}` }));
  const client = link.client(DataManagerService);
  await until('the configuration', () => cloud.logs.includes('configuration applied'));
  const status = async (): Promise<Record<string, unknown>> => ({ ...(await client.getStatus({ name: 'dm' })).result });
  return { cloud, client, home: home.path, status };
}

const counter = 'core:component:sensor/counter';

test('Sync sends what was captured, also with sync_disabled; GetStatus says what waits and what was sent', async () => {
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

test('D15 while the cloud is not available, GetStatus says so with the last error and the next attempt', async () => {
  const { cloud, status } = await start({});
  cloud.before = () => {
    throw new PlatformError('unavailable', 'closed today');
  };
  await until('a failure', async () => String((await status())['last_error']).includes('closed today'));
  await until('a wait', async () => (await status())['next_attempt'] !== null);
  cloud.before = () => {};
  await until('no failure', async () => (await status())['last_error'] === '');
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

import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { silentLog, systemClock } from '@platform/base';
import { createCaptureFileWriter } from '@platform/capture-file';
import { DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { type DocumentServer, startDocumentServer } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { methodParameters } from '../capture/method-parameters.ts';
import { diskStorage } from '../directories/disk-storage.ts';
import { until } from '../testing/start-test-server.ts';
import type { OpenDatabase } from './database.ts';
import { Docdb } from './docdb.ts';
import { openMongodb } from './open-mongodb.ts';
import { DocdbQueue } from './queue.ts';

const ids = { organizationId: 'org', locationId: 'loc', robotId: 'robot' };
const stream = new Uint8Array(16).fill(7);
const receivedMs = Date.UTC(2026, 10, 25, 7, 30);
/** Failed calls are repeated at once. */
const quickClock = { ...systemClock, sleep: (_ms: number, signal?: AbortSignal) => systemClock.sleep(5, signal) };

interface Rig {
  readonly server: DocumentServer;
  readonly docdb: Docdb;
  readonly queue: DocdbQueue;
  readonly home: string;
  readonly logged: string[];
  /** Queues a capture file with these readings. */
  add(seq: number, readings: readonly JsonObject[]): Promise<void>;
  configure(more?: { readonly uri?: string; readonly database?: string }): Promise<void>;
  stored(): Record<string, unknown>[];
}

interface Given {
  readonly login?: { user: string; password: string };
  readonly mostBytes?: number;
  /** Default: the server's. */
  readonly database?: OpenDatabase;
}

async function open(given: Given = {}) {
  const home = await mkdtemp(join(tmpdir(), 'docdb-'));
  const server = await startDocumentServer(given.login);
  const logged: string[] = [];
  const write = (message: string, fields?: object): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log = { ...silentLog, info: write, warn: write, error: write, child: () => log };
  const queue = new DocdbQueue(home, log, () => systemClock.monotonic(), given.mostBytes);
  await queue.start();
  const opens = given.database ?? openMongodb;
  const docdb = new Docdb({ queue, open: opens, ids: () => ids, seal: async () => {}, clock: quickClock, log });
  onTestFinished(async () => {
    await docdb[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await rm(home, { recursive: true });
  });
  const rig: Rig = {
    ...{ server, docdb, queue, home, logged },
    async add(seq, readings) {
      const path = join(home, 'capture', `file-${String(seq).padStart(4, '0')}`);
      const metadata = {
        ...{ componentType: 'core:component:sensor', componentName: 'temp', methodName: 'Readings', tags: ['a'] },
        ...{ type: DataType.TABULAR_SENSOR, methodParameters: methodParameters({ speed: 2 }) },
      };
      const header = create(CaptureFileHeaderSchema, { stream, seq: BigInt(seq), partId: 'part', metadata });
      const writer = await createCaptureFileWriter({ storage: diskStorage(home), path, header });
      for (const value of readings) {
        const times = { timeRequested: timestampFromMs(receivedMs - 5), timeReceived: timestampFromMs(receivedMs) };
        writer.append(
          toBinary(SensorDataSchema, create(SensorDataSchema, { metadata: times, data: { case: 'struct', value } })),
        );
      }
      await writer.flush();
      await queue.add(`${path}.prog`);
      await writer.abandon();
      docdb.wake();
    },
    configure: ({ uri = server.uri, database = 'sensorData' } = {}) =>
      docdb.configure({ uri, database, collection: 'readings' }),
    stored: () => [...(server.collections.get('sensorData.readings')?.values() ?? [])],
  };
  return rig;
}

const value = (n: number): JsonObject => ({ readings: { n } });
const settled = ({ docdb }: Rig): Promise<void> =>
  until('an empty queue', () => docdb.status().waiting_files === 0 && docdb.status().state === 'on');
const numbers = (rig: Rig): number[] =>
  rig
    .stored()
    .map(({ data }) => (data as { readings: { n: number } }).readings.n)
    .toSorted((a, b) => a - b);

test('a reading becomes a document with the ids of the part, its series and times, in the configured database and collection', async () => {
  const rig = await open();
  await rig.configure();
  await rig.add(3, [value(1), { readings: { list: [1.5, 'x', null, { deep: true }], 'with\0nul': 1 } }]);
  await settled(rig);
  const shared = {
    ...{ organization_id: 'org', location_id: 'loc', robot_id: 'robot', part_id: 'part', tags: ['a'] },
    ...{ component_type: 'core:component:sensor', component_name: 'temp', method_name: 'Readings' },
    ...{ capture_day: '2026-11-25', additional_parameters: { speed: 2 } },
    ...{ time_requested: new Date(receivedMs - 5), time_received: new Date(receivedMs) },
  };
  const id = `${'07'.repeat(16)}-3`;
  expect(rig.stored()).toEqual([
    { _id: `${id}-0`, ...shared, data: { readings: { n: 1 } } },
    { _id: `${id}-1`, ...shared, data: { readings: { list: [1.5, 'x', null, { deep: true }], 'with␀nul': 1 } } },
  ]);
  expect(rig.docdb.status()).toMatchObject({ state: 'on', stored_documents: 2, refused_documents: 0, last_error: '' });
});

test('a connection that ends mid-batch, a lost answer and a server that is not primary lose nothing and store nothing twice', async () => {
  const rig = await open();
  const faults: ReturnType<DocumentServer['onInsert']>[] = [
    { stored: 1 },
    { stored: 3 },
    { code: 10_107, message: 'not primary' },
    { code: 11_600, message: 'interrupted at shutdown' },
    { fails: ({ data }) => (data.readings.n === 2 ? 112 : undefined) },
    'silence',
  ];
  rig.server.onInsert = () => faults.shift();
  await rig.configure({ uri: `${rig.server.uri}&socketTimeoutMS=300&retryWrites=false` });
  await rig.add(1, [value(1), value(2), value(3)]);
  await rig.add(2, [value(4)]);
  await settled(rig);
  expect(faults).toEqual([]);
  expect(numbers(rig)).toEqual([1, 2, 3, 4]);
  expect(rig.server.duplicates).toBeGreaterThan(2);
  expect(rig.docdb.status()).toMatchObject({ stored_documents: 4, refused_documents: 0 });
});

test('a pipe in place of a capture file holds up nothing', async () => {
  const rig = await open();
  await rig.configure();
  const pipe = join(rig.home, 'file.prog');
  execFileSync('mkfifo', [pipe]);
  await rig.queue.add(pipe);
  expect(rig.logged).toContainEqual(expect.stringMatching(/cannot be queued.*expected a regular file, found a pipe/));
  expect(await readdir(join(rig.home, 'docdb_queue'))).toEqual([]);
});

test('documents that the database refuses are dropped with their reason, and the others are stored', async () => {
  const rig = await open();
  rig.server.maxDocumentBytes = 2_000;
  rig.server.onInsert = () => ({
    // A rule of the collection; and an error that does not name a document.
    fails: ({ data }) => ({ 2: 121, 3: 12_345 })[String(data.readings.n)],
  });
  await rig.configure();
  await rig.add(1, [value(1), value(2), value(3), { readings: { n: 4, text: 'x'.repeat(3_000) } }, value(5)]);
  await settled(rig);
  expect(numbers(rig)).toEqual([1, 5]);
  expect(rig.docdb.status()).toMatchObject({ stored_documents: 2, refused_documents: 3 });
  expect(rig.logged.join('\n')).toMatch(/refuses a reading.*refused with 121 \(121\)/);
});

test('only a document that the server refuses as too large is dropped', async () => {
  const rig = await open();
  rig.server.onInsert = (documents) =>
    documents.some(({ data }) => data.readings.n === 2)
      ? { code: 10_334, message: 'BSONObj size is invalid' }
      : undefined;
  await rig.configure();
  await rig.add(1, [value(1), value(2), value(3)]);
  await settled(rig);
  expect(numbers(rig)).toEqual([1, 3]);
});

test('while the server does not answer, readings wait on the disk and survive a restart', async () => {
  const rig = await open();
  rig.server.isSilent = true;
  await rig.configure({ uri: `${rig.server.uri}&serverSelectionTimeoutMS=200` });
  await rig.add(1, [value(1)]);
  await until('a failure', () => rig.docdb.status().state === 'failing');
  await rig.add(2, [value(2)]);
  expect(rig.docdb.status()).toMatchObject({ waiting_files: 2, stored_documents: 0 });
  await rig.docdb.stop();
  const later = new DocdbQueue(rig.home, silentLog, () => 0);
  await later.start();
  expect(later.oldest(9)).toEqual(['file-0001.capture', 'file-0002.capture']);
  rig.server.isSilent = false;
  await rig.configure();
  await settled(rig);
  expect(numbers(rig)).toEqual([1, 2]);
  expect(await readdir(join(rig.home, 'docdb_queue'))).toEqual([]);
});

test('the right password signs in; a wrong one is a failure that is retried; neither it nor the URI is ever shown', async () => {
  const rig = await open({ login: { user: 'robot-7', password: 'Geheim1234' } });
  const as = (password: string): string => rig.server.uri.replace('//', `//robot-7:${password}@`);
  await rig.configure({ uri: as('Falsch%205678') });
  await rig.add(1, [value(1)]);
  await until('a failure', () => rig.docdb.status().state === 'failing');
  expect(rig.docdb.status().last_error).toBe('Authentication failed.');
  await rig.configure({ uri: as('Geheim1234') });
  await settled(rig);
  expect(numbers(rig)).toEqual([1]);
  expect(rig.logged.join('\n')).not.toMatch(/Geheim1234|Falsch|robot-7|mongodb:/);
});

test('an invalid URI or name is a failure with its reason, without the URI, until it is reconfigured', async () => {
  const rig = await open();
  await rig.add(1, [value(0)]);
  expect(rig.docdb.status()).toMatchObject({ state: 'off', waiting_files: 0 });
  const failure = async (given: Parameters<Rig['configure']>[0]): Promise<string> => {
    await rig.configure(given);
    await until('a failure', () => rig.docdb.status().state === 'failing');
    return rig.docdb.status().last_error;
  };
  await rig.configure({ uri: 'mongodb://' });
  await rig.add(2, [value(1)]);
  expect(await failure({ uri: 'mongodb://robot:Geheim1234@/' })).toMatch(/host/i);
  expect(await failure({ uri: 'mongodb://robot:Geheim1234@h/?nonsense=1' })).toMatch(/nonsense/);
  expect(await failure({ database: 'a b' })).toMatch(/namespace/i);
  expect(rig.logged.join('\n')).not.toMatch(/Geheim1234/);
  await rig.configure();
  await settled(rig);
  expect(numbers(rig)).toEqual([1]);
});

test('an edit waits for documents that are being inserted: they are in one database only', async () => {
  const inserting = Promise.withResolvers<void>();
  const inserted = Promise.withResolvers<void>();
  const stored: string[] = [];
  const rig = await open({
    database: async ({ database }) => ({
      async insert(documents) {
        inserting.resolve();
        await inserted.promise;
        stored.push(...documents.map(({ _id }) => `${database} ${_id.slice(-3)}`));
        return [];
      },
      async [Symbol.asyncDispose]() {},
    }),
  });
  await rig.configure();
  await rig.add(1, [value(1), value(2)]);
  await inserting.promise;
  const edited = rig.configure({ database: 'other' });
  inserted.resolve();
  await edited;
  await rig.add(2, [value(3)]);
  await until('the last document', () => stored.length >= 3);
  expect(stored).toEqual(['sensorData 1-0', 'sensorData 1-1', 'other 2-0']);
});

test('beyond its limit the queue drops the oldest readings and counts them; without a database the queue is deleted', async () => {
  const rig = await open({ mostBytes: 4_000 });
  rig.server.isSilent = true;
  await rig.configure({ uri: `${rig.server.uri}&serverSelectionTimeoutMS=200` });
  const text = 'x'.repeat(1_000);
  for (let seq = 1; seq <= 5; seq++) await rig.add(seq, [{ readings: { text } }, value(seq)]);
  expect(rig.docdb.status().dropped_readings).toBe(2 * (5 - rig.docdb.status().waiting_files));
  expect(rig.docdb.status().waiting_files).toBeGreaterThan(1);
  expect(rig.queue.oldest(9).at(-1)).toBe('file-0005.capture');
  await rig.docdb.configure(undefined);
  expect(rig.docdb.status()).toMatchObject({ state: 'off', waiting_files: 0 });
  expect(await readdir(rig.home)).toEqual(['capture']);
});

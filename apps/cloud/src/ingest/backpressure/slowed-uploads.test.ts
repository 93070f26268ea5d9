/** Uploads with a real tabular store that falls behind: which uploads wait, which do not, and when they continue. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { createLog, systemClock } from '@platform/base';
import { DataType, SensorDataSchema, UploadMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { BsonDocument } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { expect, test } from 'vitest';
import { openBlobStore } from '../../blobs/blob-store.ts';
import { migrations } from '../../metadata/migrations.ts';
import { openMetadata } from '../../metadata/open-metadata.ts';
import { openTestStore } from '../../metadata/testing/test-store.ts';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import { ReadingRanges } from '../../reading-codec/reading-ranges.ts';
import { createTabular } from '../../tabular/feature.ts';
import type { Tabular } from '../../tabular/tabular.ts';
import { standaloneTabular } from '../../tabular/testing/standalone-tabular.ts';
import { acceptUpload } from '../accept-upload.ts';
import type { IngestLog } from '../log/log.ts';
import { openIngestLog } from '../log/open-ingest-log.ts';
import { defaultIngestSettings, type IngestSettings } from '../settings.ts';
import { metadata, times } from '../testing/uploads.ts';
import { createBackpressure, type UploadsSlowed } from './backpressure.ts';

const readingBytes = 20_000;
const dayMs = 86_400_000;

interface Store extends AsyncDisposable {
  readonly log: IngestLog;
  readonly tabular: Tabular;
  readonly lines: readonly string[];
  slowed(): UploadsSlowed | undefined;
  /** Sends one reading of about readingBytes, or a picture of that size. */
  upload(organizationId: string, seq: number, more?: { type?: DataType; signal?: AbortSignal }): Promise<string>;
}

/** Rows are sealed only when a test says so. */
async function openStore(settings: Partial<IngestSettings>): Promise<Store> {
  await using unwind = new AsyncDisposableStack();
  const { directory, database } = unwind.use(await openTestStore(undefined, migrations));
  const lines: string[] = [];
  const log = createLog((_level, _logger, message) => void lines.push(message));
  const clock = systemClock;
  const opened = { database, log, clock, onFatal: throwUncaught };
  const { db } = unwind.use(await openMetadata({ ...opened, file: directory.file('meta.sqlite'), migrations }));
  const ingestLog = unwind.use(await openIngestLog({ ...opened, file: directory.file('ingest.sqlite') }));
  const tabular = unwind.use(
    createTabular({
      ...opened,
      ...standaloneTabular(),
      dataDir: directory.path,
      db,
      ingestLog,
      settings: { sealAgeMs: dayMs },
    }),
  );
  await tabular.start();
  const backpressure = createBackpressure({
    ...{ store: tabular, clock, log },
    settings: { ...defaultIngestSettings, maxWaitMs: dayMs, ...settings },
  });
  const options = {
    ...{ ingestLog, backpressure, clock },
    blobs: await openBlobStore({ directory: join(directory.path, 'blobs'), clock }),
    reportGap: () => {},
    countStored: () => {},
    findDeleted: async () => [],
  };
  const text = randomBytes(readingBytes / 2).toString('hex');
  const struct = toBinary(
    SensorDataSchema,
    create(SensorDataSchema, { metadata: times, data: { case: 'struct', value: { text } } }),
  );
  const picture = toBinary(SensorDataSchema, create(SensorDataSchema, { metadata: times }));
  const all = unwind.move();
  return {
    log: ingestLog,
    tabular,
    lines,
    slowed: backpressure.slowed,
    async upload(organizationId, seq, { type = DataType.TABULAR_SENSOR, signal = new AbortController().signal } = {}) {
      const place = {
        ...{ organizationId, locationId: 'loc', robotId: 'robot', partId: `part of ${organizationId}` },
        ...{ organizationName: '', locationName: '', robotName: '', partName: '' },
      };
      const isPicture = type === DataType.BINARY_SENSOR;
      const { fileId } = await acceptUpload(
        options,
        place,
        {
          metadata: create(UploadMetadataSchema, metadata({ partId: place.partId, type })),
          identity: { stream: new Uint8Array(16).fill(1), seq, lowWaterMark: 0 },
        },
        { readings: ReadingRanges.of([isPicture ? picture : struct]), refused: [] },
        isPicture ? { chunks: [new Uint8Array(readingBytes)], timeReceivedMs: null } : null,
        { signal, deadline: undefined },
      );
      return fileId;
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Just below the bound no upload waits; the next one fills it. */
const bound = 4 * readingBytes;

/** Fills the backlog; returns upload number 5, which waits. */
async function fill(store: Store): Promise<Promise<string>[]> {
  for (let seq = 1; seq <= 4; seq++) {
    await store.upload('flood', seq);
    await expect.poll(() => store.tabular.lag().loadedPosition).toBe(seq);
  }
  const waiting = store.upload('flood', 5);
  await expect.poll(() => store.slowed()?.uploads).toBe(1);
  return [waiting];
}

test('an organization that floods waits until its readings are sealed, and others are not delayed', async () => {
  await using store = await openStore({ unsealedBytes: bound });
  const waiting = await fill(store);
  expect(store.log.lastPosition()).toBe(4);

  await store.upload('other', 1);
  await store.upload('flood', 1_000, { type: DataType.BINARY_SENSOR });
  expect(store.log.lastPosition()).toBe(6);
  expect(store.slowed()).toMatchObject({ uploads: 1, refused: 0, reason: expect.stringMatching(/sealed/) });

  await store.tabular.seal();
  await Promise.all(waiting);
  expect(store.log.lastPosition()).toBe(7);
  await store.upload('flood', 1_001);
  expect(store.slowed()).toMatchObject({ uploads: 1 });
  expect(store.lines.filter((line) => line.includes('slowed down'))).toHaveLength(1);
});

test('a retry of a recorded upload does not wait, nor does an upload that its sender has settled', async () => {
  await using store = await openStore({ unsealedBytes: bound });
  const waiting = await fill(store);
  await store.upload('flood', 1);
  expect(store.log.lastPosition()).toBe(4);
  expect(store.slowed()).toMatchObject({ uploads: 1 });
  await store.tabular.seal();
  await Promise.all(waiting);
});

test('uploads continue after a bounded wait while the process that loads rows is not running', async () => {
  await using store = await openStore({ unloadedBytes: bound, burstBytes: bound, maxWaitMs: 50 });
  await store.upload('flood', 1);
  await expect.poll(() => store.tabular.lag().loadedPosition).toBe(1);
  const { processId = 0 } = await store.tabular.status();
  process.kill(processId, 'SIGSTOP');
  // Uploads wait for loading only while a query is running.
  const scope = { organizationId: 'flood', locationIds: null, robotIds: null };
  const plan = parseMql([new BsonDocument([['$count', 'n']])]);
  const asked = store.tabular.query({ plan, scope, vocabulary: 'core', deadlineMs: dayMs });
  try {
    await expect.poll(async () => (await store.tabular.status()).runningQueries).toBe(1);
    for (let seq = 2; seq <= 30; seq++) await store.upload('flood', seq);
  } finally {
    process.kill(processId, 'SIGCONT');
  }
  await asked;
  expect(store.log.lastPosition()).toBe(30);
  expect(store.slowed()).toMatchObject({ refused: 0, reason: expect.stringMatching(/loaded/) });
  expect(store.slowed()?.uploads).toBe(30 - 5);
  expect(store.lines.filter((line) => line.includes('slowed down'))).toHaveLength(1);
});

test('waiting uploads are bounded: beyond it the organization with most waiting is refused; a departed sender stops waiting', async () => {
  await using store = await openStore({ unsealedBytes: bound, waitingBytes: 3 * readingBytes });
  const waiting = await fill(store);
  const leaving = new AbortController();
  const second = store.upload('flood', 2_000, { signal: leaving.signal });
  await expect.poll(() => store.slowed()?.uploads).toBe(2);
  await expect(store.upload('flood', 2_001)).rejects.toMatchObject({ code: 'resource_exhausted' });
  leaving.abort();
  await expect(second).rejects.toMatchObject({ code: 'canceled' });
  expect(store.log.lastPosition()).toBe(4);
  await store.tabular.seal();
  await Promise.all(waiting);
  expect(store.log.lastPosition()).toBe(5);
});

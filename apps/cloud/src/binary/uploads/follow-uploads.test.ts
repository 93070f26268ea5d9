import { silentLog, systemClock } from '@platform/base';
import { expect, test } from 'vitest';
import type { Principal } from '../../access/principal.ts';
import { defaultStore } from '../../metadata/testing/test-store.ts';
import { logged } from '../../triggers/testing/logged.ts';
import { callers, data, openBinary } from '../testing/open-binary.ts';
import { followUploads } from './follow-uploads.ts';

test('I11 an acknowledged upload is found by the next call, exactly as it was uploaded', async () => {
  const on = await openBinary();
  const atMs = Date.UTC(2026, 4, 6, 7, 8, 9, 123);
  const id = await on.upload({
    content: 'jpeg bytes',
    atMs,
    metadata: {
      fileExtension: '.JPG',
      tags: ['b', 'a', 'b', ''],
      methodParameters: { camera: { typeUrl: 'type.googleapis.com/x', value: Uint8Array.of(1, 2) } },
    },
    annotations: {
      bboxes: [
        {
          label: 'dog',
          xMinNormalized: 0.1,
          yMinNormalized: 0,
          xMaxNormalized: 0.3,
          yMaxNormalized: 1,
          confidence: 0.9,
        },
        { label: 'out of the picture', xMinNormalized: 2, xMaxNormalized: 3 },
      ],
      classifications: [{ id: 'c', label: 'night' }],
    },
  });
  const { data: found, count } = await on.ask(callers.owner, data.binaryDataByIDs, {
    binaryDataIds: [id],
    includeBinary: true,
  });
  expect(count).toBe(1n);
  const [{ binary, metadata } = { binary: undefined, metadata: undefined }] = found;
  expect(new TextDecoder().decode(binary)).toBe('jpeg bytes');
  expect(metadata).toMatchObject({
    id,
    binaryDataId: id,
    fileName: '',
    fileExt: '.jpg',
    fileSizeBytes: 10n,
    uri: `http://cloud.test/binary-data/${id}`,
    datasetIds: [],
    timeRequested: { seconds: BigInt(Math.floor(atMs / 1_000)), nanos: 123_000_000 },
    timeReceived: { seconds: BigInt(Math.floor(atMs / 1_000)), nanos: 128_000_000 },
    captureMetadata: {
      organizationId: 'acme',
      locationId: 'hall',
      robotId: 'press',
      robotName: 'press machine',
      partId: 'press-main',
      partName: 'main',
      componentType: 'core:component:camera',
      componentName: 'cam',
      methodName: 'GetImages',
      mimeType: 'image/jpeg',
      tags: ['a', 'b'],
      methodParameters: { camera: { typeUrl: 'type.googleapis.com/x', value: Uint8Array.of(1, 2) } },
    },
  });
  expect(metadata?.annotations?.bboxes).toMatchObject([{ label: 'dog', xMinNormalized: 0.1, confidence: 0.9 }]);
  expect(metadata?.annotations?.bboxes[0]?.id).not.toBe('');
  expect(metadata?.annotations?.classifications).toMatchObject([{ id: 'c', label: 'night' }]);
});

test('I11 each upload is stored once and deleted ones stay deleted, even if the process ends between read and write', async () => {
  const on = await openBinary();
  const ids: string[] = [];
  for (let round = 0; round < 12; round++) {
    ids.push(await on.upload({ content: `picture ${round}`, atMs: 1_700_000_000_000 + round }));
    await on.log.append({
      partId: 'press-main',
      stream: new Uint8Array(16).fill(round + 1),
      seq: 1,
      lowWaterMark: 0,
      sha256: new Uint8Array(32),
      batch: logged({ fileId: `tabular-${round}` }),
      fileId: `tabular-${round}`,
    });
  }
  const position = await on.binary.caughtUp(new AbortController().signal);
  const gone = ids.slice(0, 3);
  await on.ask(callers.owner, data.deleteBinaryDataByIDs, { binaryDataIds: gone });
  await on.binary[Symbol.asyncDispose]();
  expect(await on.binary.cursor()).toBe(position);

  // A restarted process reads from its cursor; the process that loses the race for a row writes nothing.
  const options = { db: on.db, ingestLog: on.log, clock: systemClock, log: silentLog };
  const [first, second] = [followUploads(options).steps, followUploads(options).steps];
  await Promise.all([first.open(), second.open()]);
  ids.push(await on.upload({ content: 'one more' }));
  const raced = await Promise.allSettled([first.next(), second.next()]);
  expect(raced.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(await on.ids()).toEqual(ids.slice(3).toSorted());
});

test('I8 an unreadable row is marked as damaged and skipped, and the others are stored', async () => {
  const on = await openBinary();
  const before = await on.upload({ content: 'before' });
  await on.log.append({
    partId: 'press-main',
    stream: new Uint8Array(16).fill(9),
    seq: 1,
    lowWaterMark: 0,
    sha256: new Uint8Array(32),
    batch: Uint8Array.of(0x3a, 0x7f, 1, 2, 3),
    fileId: 'broken',
  });
  const after = await on.upload({ content: 'after' });
  await on.binary.caughtUp(new AbortController().signal);
  expect(await on.ids()).toEqual([before, after].toSorted());
  expect(await on.log.damaged()).toMatchObject([{ position: 2 }]);
});

test('a call that cannot get all files in time is answered UNAVAILABLE, never with only some of them', async () => {
  let isOver = false;
  const on = await openBinary({
    clock: { ...systemClock, sleep: (ms, signal) => systemClock.sleep(isOver ? 1 : ms, signal) },
  });
  await on.binary[Symbol.asyncDispose]();
  await on.upload();
  isOver = true;
  await expect(on.ask(callers.owner, data.binaryDataByFilter, {})).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('all uploads up to position 1'),
  });
});

test('D33 an upload lost from the log is skipped and recorded; lists that may lack it are DATA_LOSS until it is accepted', async () => {
  const on = await openBinary();
  const before = await on.upload({ content: 'before' });
  await on.binary.caughtUp(new AbortController().signal);
  await on.binary[Symbol.asyncDispose]();
  await on.upload({ content: 'lost' });
  const after = await on.upload({ content: 'after' });
  await on.upload({ content: 'missing', machine: 'mill' });
  const hash = defaultStore === 'postgres' ? `'\\x00'::bytea` : `x'00'`;
  await on.damageLog(`update log set batch = ${hash} where position = 2`);
  await on.damageLog('delete from log where position = 4');

  const { steps } = followUploads({ db: on.db, ingestLog: on.log, clock: systemClock, log: silentLog });
  await steps.open();
  while (await steps.next());
  expect(await on.ids()).toEqual([before, after].toSorted());
  expect(on.log.losses()).toMatchObject([
    { lossIn: 'binary data', first: 2, last: 2, parts: ['press-main'] },
    { lossIn: 'binary data', first: 4, last: 4, parts: ['mill-main'] },
  ]);
  await on.binary.start();
  const list = (caller: Principal, filter = {}) => on.ask(caller, data.binaryDataByFilter, { dataRequest: { filter } });
  const lost = { code: 'data_loss', message: expect.stringMatching(/ingest log at position [24]/) };
  await expect(list(callers.owner)).rejects.toMatchObject(lost);
  await expect(list(callers.owner, { partId: 'mill-main' })).rejects.toMatchObject(lost);
  expect((await list(callers.owner, { partId: 'saw-main' })).data).toEqual([]);
  expect((await list(callers.stranger)).data).toEqual([]);
  const byId = await on.ask(callers.owner, data.binaryDataByIDs, { binaryDataIds: [after], includeBinary: true });
  expect(byId.data).toHaveLength(1);
  await on.log.acceptLosses();
  expect((await list(callers.owner)).data).toHaveLength(2);
});

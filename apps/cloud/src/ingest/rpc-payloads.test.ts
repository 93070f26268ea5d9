import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { create, fromBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DataSyncService, DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { connect } from '@platform/rpc/client';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { startUploadServer } from './testing/upload-server.ts';
import { logged, metadata, reading, refusal, stream, takenMs, times } from './testing/uploads.ts';

test('I4 a binary reading is stored under the path pattern before its row is appended, and the row holds no bytes', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const payload = crypto.getRandomValues(new Uint8Array(5_000));
  const binary = metadata({ type: DataType.BINARY_SENSOR, componentName: '../we ird/é', fileExtension: '.jpeg' });
  await link.client(DataSyncService).dataCaptureUpload({
    metadata: binary,
    sensorContents: [{ metadata: times, data: { case: 'binary', value: payload } }],
  });
  const [upload] = await logged(server.log);
  const path = upload?.blob?.path ?? '';
  expect(path).toMatch(
    /^org\/loc\/robot\/part-1\/core:component:sensor\/%2E.%2Fwe%20ird%2F%C3%A9\/Readings\/2026-03-04\/[0-9a-f-]{36}\.jpeg$/,
  );
  expect(new Uint8Array(await readFile(join(server.blobDirectory, path)))).toEqual(payload);
  expect(await server.log.hasBlob(path)).toBe(true);
  expect(upload?.readings.map((bytes) => fromBinary(SensorDataSchema, bytes))).toEqual([
    create(SensorDataSchema, { metadata: times }),
  ]);
});

test('I4 I5 files and streamed readings are stored completely, and a retry leaves no second payload', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const client = link.client(DataSyncService);
  const chunks = Array.from({ length: 20 }, () => crypto.getRandomValues(new Uint8Array(40_000)));
  const sendFile = () =>
    client.fileUpload(
      (async function* () {
        const named = { componentName: '', componentType: '', fileName: 'a/b/notes.txt' };
        const file = metadata({ ...named, type: DataType.FILE, fileModifyTime: timestampFromMs(takenMs) });
        yield { uploadPacket: { case: 'metadata' as const, value: file } };
        for (const data of chunks) yield { uploadPacket: { case: 'fileContents' as const, value: { data } } };
      })(),
    );
  const sendStream = () =>
    client.streamingDataCaptureUpload(
      (async function* () {
        const uploadMetadata = metadata({ type: DataType.BINARY_SENSOR, identity: { stream, seq: 9n, floor: 0n } });
        yield { uploadPacket: { case: 'metadata' as const, value: { uploadMetadata, sensorMetadata: times } } };
        for (const value of chunks) yield { uploadPacket: { case: 'data' as const, value } };
      })(),
    );
  const answers = [await sendFile(), await sendFile(), await sendStream(), await sendStream()];
  expect(answers[0]?.binaryDataId).toBe(answers[1]?.binaryDataId);
  expect(answers[2]?.binaryDataId).toBe(answers[3]?.binaryDataId);

  const uploads = await logged(server.log);
  expect(uploads).toHaveLength(2);
  for (const { blob } of uploads) {
    expect(Buffer.compare(await readFile(join(server.blobDirectory, blob?.path ?? '')), Buffer.concat(chunks))).toBe(0);
  }
  const files = (await readdir(server.blobDirectory, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  expect(files).toHaveLength(2);
});

test('a file and a streamed reading in one message of 40 MiB are stored completely; a streamed reading needs no component', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const client = link.client(DataSyncService);
  const data = new Uint8Array(40 * 1024 * 1024).map((_, index) => (index * 7) % 251);
  await client.fileUpload(
    (async function* () {
      yield { uploadPacket: { case: 'metadata' as const, value: metadata({ type: DataType.FILE, fileName: 'a' }) } };
      yield { uploadPacket: { case: 'fileContents' as const, value: { data } } };
    })(),
  );
  await client.streamingDataCaptureUpload(
    (async function* () {
      const unnamed = { componentType: '', componentName: '', methodName: '' };
      const uploadMetadata = metadata({ type: DataType.BINARY_SENSOR, ...unnamed });
      yield { uploadPacket: { case: 'metadata' as const, value: { uploadMetadata, sensorMetadata: times } } };
      yield { uploadPacket: { case: 'data' as const, value: data } };
    })(),
  );
  const uploads = await logged(server.log);
  expect(uploads).toHaveLength(2);
  for (const { blob } of uploads)
    expect(Buffer.compare(await readFile(join(server.blobDirectory, blob?.path ?? '')), data)).toBe(0);
});

test('D53 an upload without a type is stored by what it holds: documents as readings, bytes as a file', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const client = link.client(DataSyncService);
  const payload = crypto.getRandomValues(new Uint8Array(5_000));
  // A sender cannot say that it gave no type.
  const untyped = metadata({ type: DataType.UNSPECIFIED });
  const bytes = create(SensorDataSchema, { metadata: times, data: { case: 'binary', value: payload } });
  await client.dataCaptureUpload({
    metadata: metadata({ type: DataType.TABULAR_SENSOR, typeByContent: true }),
    sensorContents: [reading(0)],
  });
  await client.dataCaptureUpload({ metadata: untyped, sensorContents: [reading(1)] });
  const { fileId } = await client.dataCaptureUpload({ metadata: untyped, sensorContents: [bytes] });
  // A retry of it is recognised by its times.
  expect((await client.dataCaptureUpload({ metadata: untyped, sensorContents: [bytes] })).fileId).toBe(fileId);
  await client.fileUpload(
    (async function* () {
      yield { uploadPacket: { case: 'metadata' as const, value: untyped } };
      yield { uploadPacket: { case: 'fileContents' as const, value: { data: payload } } };
    })(),
  );
  const uploads = await logged(server.log);
  expect(uploads.map(({ metadata: stored }) => [stored?.type, stored?.typeByContent])).toEqual([
    [DataType.TABULAR_SENSOR, false],
    [DataType.TABULAR_SENSOR, true],
    [DataType.FILE, true],
    [DataType.FILE, true],
  ]);
  for (const { blob } of uploads.slice(2))
    expect(new Uint8Array(await readFile(join(server.blobDirectory, blob?.path ?? '')))).toEqual(payload);
});

test('a stream without metadata first, or with metadata in the middle, is refused and leaves nothing', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const client = link.client(DataSyncService);
  const first = { uploadPacket: { case: 'metadata' as const, value: metadata({ type: DataType.FILE }) } };
  const data = { uploadPacket: { case: 'fileContents' as const, value: { data: new Uint8Array(10) } } };
  for (const packets of [[], [data], [first, data, first]]) {
    const answer = await refusal(
      client.fileUpload(
        (async function* () {
          yield* packets;
        })(),
      ),
    );
    expect(answer.code).toBe('invalid_argument');
  }
  expect(await logged(server.log)).toEqual([]);
  const files = (await readdir(server.blobDirectory, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  expect(files).toEqual([]);
});

test('I13 uploads are refused while the disk is too full, and accepted again when it is not', async () => {
  const clock = new FakeClock();
  await using server = await startUploadServer(clock);
  await using link = connect({ baseUrl: server.url });
  const send = (value: number): Promise<{ code: string; message: string }> =>
    refusal(link.client(DataSyncService).dataCaptureUpload({ metadata: metadata(), sensorContents: [reading(value)] }));
  server.setFreeBytes(511 * 1024 * 1024);
  expect(await send(1)).toMatchObject({ code: 'resource_exhausted', message: expect.stringContaining('512 MiB free') });
  expect(await logged(server.log)).toEqual([]);
  server.setFreeBytes(513 * 1024 * 1024);
  await clock.advance(1_000);
  expect(await send(1)).toMatchObject({ code: 'ok' });
});

test('I13 on a full disk an upload is refused before its body is sent', async () => {
  await using server = await startUploadServer();
  server.setFreeBytes(1024);
  // A request that announces its body but never sends it.
  const answer = await new Promise<string>((resolve, reject) => {
    const path = '/platform.app.datasync.v1.DataSyncService/DataCaptureUpload';
    const headers = { 'content-type': 'application/json', 'content-length': 1_000_000 };
    const call = request(server.url + path, { method: 'POST', headers }, (response) => {
      response.setEncoding('utf8').on('data', (text: string) => {
        resolve(text);
        call.destroy();
      });
    });
    call.on('error', reject).flushHeaders();
  });
  expect(answer).toMatch(/resource_exhausted.*512 MiB free/);
});

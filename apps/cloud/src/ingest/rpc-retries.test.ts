import { create, toBinary } from '@bufbuild/protobuf';
import { StructSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  DataCaptureUploadRequestSchema,
  DataSyncService,
  DataType,
  type SensorData,
  SensorDataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { connect } from '@platform/rpc/client';
import { createFaultProxy } from '@platform/testkit';
import { expect, test } from 'vitest';
import type { RepeatedUpload } from './accept-upload.ts';
import { startUploadServer } from './testing/upload-server.ts';
import { celsius, logged, type MetadataInit, metadata, reading, stream, takenMs, times } from './testing/uploads.ts';

test('I5 a lost acknowledgement and its retries leave one copy and one answer', async () => {
  await using server = await startUploadServer();
  await using proxy = await createFaultProxy(server);
  const request = create(DataCaptureUploadRequestSchema, {
    metadata: metadata({ identity: { stream, seq: 4n, floor: 2n } }),
    sensorContents: [reading(1), reading(2)],
  });
  const send = async (): Promise<string> => {
    await using link = connect({ baseUrl: `http://${proxy.host}:${proxy.port}`, timeoutMs: 60_000 });
    return (await link.client(DataSyncService).dataCaptureUpload(request)).fileId;
  };
  for (const afterBytes of [0, 40, 60, 80]) {
    proxy.setFault({ kind: 'cutResponse', afterBytes });
    await send().catch(() => {});
  }
  proxy.setFault({ kind: 'none' });
  const answers = [await send(), await send()];
  expect((await logged(server.log)).map(({ fileId }) => fileId)).toEqual([answers[0]]);
  expect(new Set(answers).size).toBe(1);
});

test('I6 an upload below the low-water mark is answered as settled, with its original id', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const send = (seq: bigint, floor: bigint): Promise<{ fileId: string }> =>
    link.client(DataSyncService).dataCaptureUpload({
      metadata: metadata({ identity: { stream, seq, floor } }),
      sensorContents: [reading(Number(seq))],
    });
  const first = await send(1n, 1n);
  await send(2n, 2n);
  expect((await send(1n, 1n)).fileId).toBe(first.fileId);
  expect((await logged(server.log)).map(celsius)).toEqual([[1], [2]]);
});

test('D13 an upload repeated by a public client with its document in another order is recognised', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const document = (order: readonly string[], nested: readonly string[]): SensorData =>
    create(SensorDataSchema, {
      metadata: times,
      data: {
        case: 'struct',
        value: {
          ...Object.fromEntries(order.map((key) => [key, key.length])),
          deep: [Object.fromEntries(nested.map((key) => [key, { [key]: true }]))],
        },
      },
    });
  expect(toBinary(StructSchema, create(StructSchema))).toHaveLength(0);
  const send = (contents: SensorData[]): Promise<{ fileId: string }> =>
    link.client(DataSyncService).dataCaptureUpload({ metadata: metadata(), sensorContents: contents });
  const first = await send([document(['aa', 'b'], ['x', 'y'])]);
  const again = await send([document(['b', 'aa'], ['y', 'x'])]);
  expect(again.fileId).toBe(first.fileId);
  const other = await send([document(['b', 'aa'], ['y', 'z'])]);
  expect(other.fileId).not.toBe(first.fileId);
  expect(await logged(server.log)).toHaveLength(2);
});

test('D13 three equal frames without identity and times are three uploads; with a time they are one; so are equal files', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const client = link.client(DataSyncService);
  const frame = (more: object) =>
    client.dataCaptureUpload({
      metadata: metadata({ type: DataType.BINARY_SENSOR }),
      sensorContents: [create(SensorDataSchema, { ...more, data: { case: 'binary', value: new Uint8Array([1, 2]) } })],
    });
  const ids = (answers: readonly { fileId: string }[]): number => new Set(answers.map(({ fileId }) => fileId)).size;
  expect(ids([await frame({}), await frame({}), await frame({})])).toBe(3);
  expect(ids([await frame({ metadata: times }), await frame({ metadata: times })])).toBe(1);
  const file = (more: MetadataInit) =>
    client.fileUpload(
      (async function* () {
        yield {
          uploadPacket: { case: 'metadata', value: metadata({ type: DataType.FILE, fileName: 'a', ...more }) },
        } as const;
        yield { uploadPacket: { case: 'fileContents', value: { data: new Uint8Array([1]) } } } as const;
      })(),
    );
  expect(ids([await file({}), await file({})])).toBe(2);
  const fileModifyTime = timestampFromMs(takenMs);
  expect(ids([await file({ fileModifyTime }), await file({ fileModifyTime })])).toBe(1);
  expect(await logged(server.log)).toHaveLength(3 + 1 + 2 + 1);
});

test('D13 only the deleted part of a repeated upload is stored again, and uploads with an identity are not checked', async () => {
  let deleted: readonly boolean[] = [];
  const asked: RepeatedUpload[] = [];
  await using server = await startUploadServer(undefined, async (upload) => {
    asked.push(upload);
    return deleted;
  });
  await using link = connect({ baseUrl: server.url });
  const upload = (more: MetadataInit = {}) =>
    link
      .client(DataSyncService)
      .dataCaptureUpload({ metadata: metadata(more), sensorContents: [reading(1), reading(2)] });
  const first = await upload();
  expect(await upload()).toMatchObject({ fileId: first.fileId });
  deleted = [false, true];
  const second = await upload();
  expect(second.fileId).not.toBe(first.fileId);
  deleted = [];
  expect(await upload()).toMatchObject({ fileId: second.fileId });
  expect((await logged(server.log)).map(celsius)).toEqual([[1, 2], [2]]);
  expect(asked.map(({ first: { position } }) => position)).toEqual([1, 1, 2]);
  deleted = [true, true];
  const identity = { stream, seq: 1n, floor: 0n };
  await upload({ identity });
  await upload({ identity });
  expect(asked).toHaveLength(3);
  expect(await logged(server.log)).toHaveLength(3);
});

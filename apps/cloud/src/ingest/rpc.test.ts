import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { create, fromBinary, type JsonObject, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { StructSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  DataCaptureUploadRequestSchema,
  DataSyncService,
  DataType,
  type SensorData,
  SensorDataSchema,
  type UploadMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { type LoggedUpload, LoggedUploadSchema } from '@platform/proto/platform/ingest/v1/log';
import { type Client, connect } from '@platform/rpc/client';
import { createFaultProxy, FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import type { RepeatedUpload } from './accept-upload.ts';
import type { IngestLog } from './log.ts';
import { maxReadingBytes } from './sort-readings.ts';
import { placeOf, startUploadServer } from './testing/upload-server.ts';

type MetadataInit = MessageInitShape<typeof UploadMetadataSchema>;

const takenMs = Date.UTC(2026, 2, 4, 5, 6, 7, 890);
const times = { timeRequested: timestampFromMs(takenMs - 5), timeReceived: timestampFromMs(takenMs) };
const stream = new Uint8Array(16).fill(7);

function metadata(more: MetadataInit = {}): MetadataInit {
  return {
    partId: 'part-1',
    componentType: 'rdk:component:sensor',
    componentName: 'thermometer',
    methodName: 'Readings',
    type: DataType.TABULAR_SENSOR,
    tags: ['lab'],
    ...more,
  };
}

function reading(value: number | string, more: object = { metadata: times }): SensorData {
  return create(SensorDataSchema, { ...more, data: { case: 'struct', value: { readings: { celsius: value } } } });
}

async function logged(log: IngestLog): Promise<LoggedUpload[]> {
  return (await log.read(0, { rows: 1_000, bytes: 2 ** 30 })).map(({ batch }) => fromBinary(LoggedUploadSchema, batch));
}

function celsius(upload: LoggedUpload): unknown[] {
  return upload.readings.map((bytes) => {
    const { data } = fromBinary(SensorDataSchema, bytes);
    const readings = data.case === 'struct' ? data.value['readings'] : undefined;
    return typeof readings === 'object' && readings !== null && 'celsius' in readings ? readings['celsius'] : undefined;
  });
}

async function refusal(answer: Promise<unknown>): Promise<{ code: string; message: string }> {
  return answer.then(
    () => ({ code: 'ok', message: '' }),
    ({ code, message }) => ({ code, message }),
  );
}

test('I1 a tabular upload is one row: its place, its time, its readings as sent, component_type in core', async () => {
  const clock = new FakeClock();
  await using server = await startUploadServer(clock);
  await using link = connect({ baseUrl: server.url });
  const answer = await link.client(DataSyncService).dataCaptureUpload({
    metadata: metadata({ identity: { stream, seq: 1n, floor: 1n } }),
    sensorContents: [reading(20.5), reading(21)],
  });

  const [upload, ...others] = await logged(server.log);
  expect(others).toEqual([]);
  expect(answer.fileId).toBe(upload?.fileId);
  expect(answer.binaryDataId).toBe(answer.fileId);
  expect(upload?.place).toMatchObject(placeOf('part-1'));
  expect(upload?.timeSynced).toEqual(timestampFromMs(clock.now()));
  expect(upload?.metadata).toMatchObject({
    componentType: 'core:component:sensor',
    componentName: 'thermometer',
    tags: ['lab'],
  });
  expect(upload?.metadata?.identity).toBeUndefined();
  expect(upload?.readings.map((bytes) => fromBinary(SensorDataSchema, bytes))).toEqual([reading(20.5), reading(21)]);
  expect(upload?.gaps).toEqual([]);
});

test('JSON and binary codecs of the upload call store the same', async () => {
  await using server = await startUploadServer();
  const response = await fetch(`${server.url}/platform.app.datasync.v1.DataSyncService/DataCaptureUpload`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      metadata: {
        partId: 'part-1',
        componentType: 'core:component:sensor',
        componentName: 'c',
        methodName: 'Readings',
        type: 'DATA_TYPE_TABULAR_SENSOR',
      },
      sensorContents: [
        {
          metadata: { timeRequested: '2026-01-02T03:04:05Z', timeReceived: '2026-01-02T03:04:05Z' },
          struct: { readings: { celsius: 3 } },
        },
      ],
    }),
  });
  expect(response.status).toBe(200);
  expect((await logged(server.log)).map(celsius)).toEqual([[3]]);
});

test('a name of more than 255 bytes, and more than 100 tags or longer ones, are INVALID_ARGUMENT by name; at the limits all is stored', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const upload = (more: MetadataInit) =>
    refusal(link.client(DataSyncService).dataCaptureUpload({ metadata: metadata(more), sensorContents: [reading(1)] }));
  const tags = Array.from({ length: 101 }, (_, index) => `t${index}`);
  const long = 'é'.repeat(128);
  expect(await upload({ componentName: long })).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('metadata.component_name: expected at most 255 bytes, found 256'),
  });
  expect((await upload({ methodName: long })).message).toContain('metadata.method_name');
  expect((await upload({ tags })).message).toContain('metadata.tags: expected at most 100 tags, found 101');
  expect((await upload({ tags: ['a', long] })).message).toContain('metadata.tags[1]: expected at most 255 bytes');
  expect(await logged(server.log)).toEqual([]);
  const fitting = { componentName: 'é'.repeat(127), tags: [...tags.slice(0, 99), 'x'.repeat(255)] };
  expect((await upload(fitting)).code).toBe('ok');
  expect((await logged(server.log))[0]?.metadata).toMatchObject(fitting);
});

test('a document nests as deep in JSON as in binary: 180 levels, and one more is refused by name', async () => {
  await using server = await startUploadServer();
  const upload = (levels: number) => {
    const document = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const taken = '"2026-01-02T03:04:05Z"';
    const about =
      '{"partId":"part-1","componentType":"core:component:sensor","componentName":"c","methodName":"Readings","type":"DATA_TYPE_TABULAR_SENSOR"}';
    return fetch(`${server.url}/platform.app.datasync.v1.DataSyncService/DataCaptureUpload`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"metadata":${about},"sensorContents":[{"metadata":{"timeRequested":${taken},"timeReceived":${taken}},"struct":${document}}]}`,
    });
  };
  expect((await upload(180)).status).toBe(200);
  const refused = await upload(181);
  expect(await refused.json()).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('180') });
});

test('D14 readings over 4 MB or without content are named gaps, their neighbours are stored, and the answer is OK', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  await link.client(DataSyncService).dataCaptureUpload({
    metadata: metadata(),
    sensorContents: [
      reading(1),
      reading('x'.repeat(maxReadingBytes)),
      create(SensorDataSchema, { metadata: times }),
      reading(4),
    ],
  });
  const [upload] = await logged(server.log);
  expect(upload && celsius(upload)).toEqual([1, 4]);
  expect(upload?.gaps.map(({ index }) => index)).toEqual([1, 2]);
  expect(upload?.gaps[0]?.reason).toMatch(/at most 4194304 bytes .* found 41943\d\d/);
  expect(server.gaps).toHaveLength(2);
});

test('I1 D14 a reading that nests too deeply to be loaded is a gap before the append, and alone it is refused', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  let deep: JsonObject = {};
  for (let level = 1; level < 250; level++) deep = { deep };
  const bad = create(SensorDataSchema, { metadata: times, data: { case: 'struct', value: deep } });
  const { dataCaptureUpload } = link.client(DataSyncService);
  await dataCaptureUpload({ metadata: metadata(), sensorContents: [reading(1), bad, reading(3)] });
  const [upload] = await logged(server.log);
  expect(upload && celsius(upload)).toEqual([1, 3]);
  expect(upload?.gaps).toMatchObject([{ index: 1, reason: expect.stringMatching(/nested at most \d+ deep/) }]);
  expect(server.gaps).toEqual([expect.stringMatching(/sensor_contents\[1\].*nested/)]);
  expect(await refusal(dataCaptureUpload({ metadata: metadata(), sensorContents: [bad] }))).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/sensor_contents\[0\].*nested/),
  });
});

test('D14 the largest allowed reading is stored', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const overhead = toBinary(SensorDataSchema, reading('x'.repeat(4_000_000))).length - 4_000_000;
  const largest = reading('x'.repeat(maxReadingBytes - overhead));
  expect(toBinary(SensorDataSchema, largest)).toHaveLength(maxReadingBytes);
  await link.client(DataSyncService).dataCaptureUpload({ metadata: metadata(), sensorContents: [largest] });
  expect((await logged(server.log))[0]?.gaps).toEqual([]);
});

test('D14 an upload is refused as a whole only when nothing of it can be stored', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const sensorContents = [reading('x'.repeat(maxReadingBytes)), reading(2, { metadata: {} })];
  const refused = await refusal(
    link.client(DataSyncService).dataCaptureUpload({ metadata: metadata(), sensorContents }),
  );
  expect(refused).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('sensor_contents[0]') });
  expect(await logged(server.log)).toEqual([]);
});

test('a malformed upload is refused with what was expected and found, and the next one is stored', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const client: Client<typeof DataSyncService> = link.client(DataSyncService);
  const bytes = create(SensorDataSchema, { metadata: times, data: { case: 'binary', value: new Uint8Array(9) } });
  const send = (
    more: MetadataInit,
    contents: SensorData[] = [reading(1)],
  ): Promise<{ code: string; message: string }> =>
    refusal(client.dataCaptureUpload({ metadata: metadata(more), sensorContents: contents }));

  const expected: [Promise<{ code: string; message: string }>, string, RegExp][] = [
    [
      send({ type: DataType.UNSPECIFIED }),
      'invalid_argument',
      /DATA_TYPE_TABULAR_SENSOR or DATA_TYPE_BINARY_SENSOR, found DATA_TYPE_UNSPECIFIED/,
    ],
    [send({ type: 77 as DataType }), 'invalid_argument', /found number 77/],
    [send({ componentName: '' }), 'invalid_argument', /component_name, found none/],
    [send({ partId: '' }), 'invalid_argument', /part_id, found none/],
    [send({ partId: 'part-9' }), 'not_found', /no part part-9/],
    [send({ partId: 'part-2' }), 'permission_denied', /part-2/],
    [send({ partId: 'part-9', componentName: '', type: DataType.FILE }), 'not_found', /no part part-9/],
    [send({ partId: 'part-2', methodName: '', type: 77 as DataType }, []), 'permission_denied', /part-2/],
    [send({ partId: '', type: 77 as DataType }), 'invalid_argument', /a machine part in metadata.part_id, found none/],
    [send({}, [reading(1), bytes]), 'invalid_argument', /expected documents, found bytes in sensor_contents\[1\]/],
    [send({}, []), 'invalid_argument', /at least one reading/],
    [
      send({ type: DataType.BINARY_SENSOR }),
      'invalid_argument',
      /expected bytes in sensor_contents\[0\], found a document/,
    ],
    [
      send({ type: DataType.BINARY_SENSOR }, [bytes, bytes]),
      'invalid_argument',
      /one reading in sensor_contents, found 2/,
    ],
    [send({ identity: { stream: new Uint8Array(3), seq: 1n, floor: 0n } }), 'invalid_argument', /16 bytes, found 3/],
    [send({ identity: { stream, seq: 1n, floor: 2n } }), 'invalid_argument', /floor ≤ seq, found seq 1, floor 2/],
    [refusal(client.dataCaptureUpload({ sensorContents: [reading(1)] })), 'invalid_argument', /expected metadata/],
  ];
  for (const [answer, code, message] of expected) {
    expect(await answer).toEqual({ code, message: expect.stringMatching(message) });
  }
  expect(await logged(server.log)).toEqual([]);
  expect(await send({})).toMatchObject({ code: 'ok' });
});

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

test('I6 an upload below the floor is answered as settled, under the id that it had', async () => {
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

test('D13 a public client that sends an upload again, its document encoded in another order, is recognised', async () => {
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

test('D13 three equal frames without identity and times are three, with a time they are one, and so are files', async () => {
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

test('D13 of an upload that comes again what was deleted since is stored, and nothing else; a sender that counts is not asked', async () => {
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

test('I4 a binary reading lies under the path pattern before its row is in; its row holds no bytes', async () => {
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

test('I4 I5 files and streamed readings arrive whole, and a retry leaves no second payload', async () => {
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

test('a stream without metadata, or with metadata in its middle, is refused and leaves nothing', async () => {
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

test('I13 uploads are refused while the disk has too little room, and go on when it has', async () => {
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

test('I13 without room an upload is refused before its body is sent', async () => {
  await using server = await startUploadServer();
  server.setFreeBytes(1024);
  // A request that announces its body and never sends it.
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

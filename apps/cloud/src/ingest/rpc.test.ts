import { create, fromBinary, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { maxReadingBytes } from '@platform/base';
import {
  DataSyncService,
  DataType,
  type SensorData,
  SensorDataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { type Client, connect } from '@platform/rpc/client';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { placeOf, startUploadServer } from './testing/upload-server.ts';
import { celsius, logged, type MetadataInit, metadata, reading, refusal, stream, times } from './testing/uploads.ts';

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

test('I1 component_type may be the last part of a known type: it is stored in full; an unknown one is stored as it is', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const sent = ['sensor', 'generic', 'vision', 'thermometer', 'acme:component:sensor', 'toString'];
  for (const componentType of sent)
    await link
      .client(DataSyncService)
      .dataCaptureUpload({ metadata: metadata({ componentType }), sensorContents: [reading(1)] });
  expect((await logged(server.log)).map((upload) => upload.metadata?.componentType)).toEqual([
    'core:component:sensor',
    'core:component:generic',
    'core:service:vision',
    'thermometer',
    'acme:component:sensor',
    'toString',
  ]);
});

test('JSON and binary encodings of the upload call store the same', async () => {
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

test('names over 255 bytes, more than 100 tags and longer tags are INVALID_ARGUMENT by name; at the limits all is stored', async () => {
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

test("a document may nest 100 levels in JSON and binary, and one level more is refused with the field's name", async () => {
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
  expect((await upload(100)).status).toBe(200);
  const refused = await upload(101);
  expect(await refused.json()).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(
      /sensor_contents\[0\]: struct\.a\.a.*: expected documents and lists nested at most 100 levels deep, found 101$/,
    ),
  });
});

test('D14 readings over 4 MB or without content are reported as gaps, the others are stored, and the answer is OK', async () => {
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

test('I1 D14 a reading nested too deeply to be loaded becomes a gap before the append, and alone it is refused', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  let deep: JsonObject = {};
  for (let level = 1; level < 250; level++) deep = { deep };
  const bad = create(SensorDataSchema, { metadata: times, data: { case: 'struct', value: deep } });
  const { dataCaptureUpload } = link.client(DataSyncService);
  await dataCaptureUpload({ metadata: metadata(), sensorContents: [reading(1), bad, reading(3)] });
  const [upload] = await logged(server.log);
  expect(upload && celsius(upload)).toEqual([1, 3]);
  expect(upload?.gaps).toMatchObject([
    {
      index: 1,
      reason: expect.stringMatching(
        /^struct\.deep\.deep.*…: expected documents and lists nested at most 100 levels deep, found 250$/,
      ),
    },
  ]);
  expect(server.gaps).toEqual([expect.stringMatching(/sensor_contents\[1\].*nested/)]);
  expect(await refusal(dataCaptureUpload({ metadata: metadata(), sensorContents: [bad] }))).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/sensor_contents\[0\].*nested/),
  });
});

test('I5 readings without times get the arrival time of their upload, however the sender omitted them, also in a retry', async () => {
  const clock = new FakeClock();
  await using server = await startUploadServer(clock);
  await using link = connect({ baseUrl: server.url });
  const { dataCaptureUpload } = link.client(DataSyncService);
  const taken = timestampFromMs(clock.now() - 5_000);
  const sensorContents = [
    reading(1, { metadata: times }),
    reading(2, { metadata: {} }),
    reading(3, { metadata: undefined }),
    reading(4, { metadata: { timeRequested: taken } }),
    reading(5, { metadata: { timeReceived: taken } }),
  ];
  const identity = { stream, seq: 1n, floor: 0n };
  const first = await dataCaptureUpload({ metadata: metadata({ identity }), sensorContents });
  const arrived = timestampFromMs(clock.now());
  await clock.advance(60_000);
  expect(await dataCaptureUpload({ metadata: metadata({ identity }), sensorContents })).toEqual(first);

  const uploads = await logged(server.log);
  expect(uploads).toHaveLength(1);
  expect(uploads[0] && celsius(uploads[0])).toEqual([1, 2, 3, 4, 5]);
  expect(uploads[0]?.readings.map((bytes) => fromBinary(SensorDataSchema, bytes).metadata)).toMatchObject([
    times,
    { timeRequested: arrived, timeReceived: arrived },
    { timeRequested: arrived, timeReceived: arrived },
    { timeRequested: taken, timeReceived: taken },
    { timeRequested: taken, timeReceived: taken },
  ]);
  expect(server.gaps).toEqual([]);
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

test('D14 an upload is refused as a whole only when none of it can be stored', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const sensorContents = [reading('x'.repeat(maxReadingBytes)), create(SensorDataSchema, { metadata: times })];
  const refused = await refusal(
    link.client(DataSyncService).dataCaptureUpload({ metadata: metadata(), sensorContents }),
  );
  expect(refused).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('sensor_contents[0]') });
  expect(await logged(server.log)).toEqual([]);
});

test('a malformed upload is refused with the expected and the found value, and the next one is stored', async () => {
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
      send({ type: DataType.FILE }),
      'invalid_argument',
      /DATA_TYPE_TABULAR_SENSOR or DATA_TYPE_BINARY_SENSOR, found DATA_TYPE_FILE/,
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

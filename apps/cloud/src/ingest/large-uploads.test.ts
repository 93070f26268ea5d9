import { once } from 'node:events';
import { connect } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { create, toBinary } from '@bufbuild/protobuf';
import { writeVarint } from '@platform/base';
import {
  DataCaptureUploadRequestSchema,
  RawDataCaptureUploadRequestSchema,
  SensorDataSchema,
  UploadMetadataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { expect, test } from 'vitest';
import { startUploadServer } from './testing/upload-server.ts';
import { celsius, logged, metadata, reading, stream, times } from './testing/uploads.ts';

const path = '/platform.app.datasync.v1.DataSyncService/DataCaptureUpload';
let seq = 0n;

function head(): Uint8Array {
  seq += 1n;
  const identity = { stream, seq, floor: 0n };
  const given = toBinary(UploadMetadataSchema, create(UploadMetadataSchema, metadata({ identity })));
  return toBinary(RawDataCaptureUploadRequestSchema, create(RawDataCaptureUploadRequestSchema, { metadata: given }));
}

/** Elements of sensor_contents with these bytes, repeated. */
function contents(bytes: Uint8Array, count = 1): Uint8Array {
  const one = new Uint8Array(6 + bytes.length);
  one[0] = 0x12;
  const at = writeVarint(one, 1, bytes.length);
  one.set(bytes, at);
  return Buffer.alloc((at + bytes.length) * count, one.subarray(0, at + bytes.length));
}

const valid = toBinary(SensorDataSchema, reading(20.5));

/** Sends a request as it is. Returns code and message, as they stand in the answer. */
async function send(
  url: string,
  message: Uint8Array,
  { contentType = 'application/grpc', compressed = false } = {},
): Promise<string> {
  const isEnveloped = contentType !== 'application/proto';
  const bytes = compressed ? gzipSync(message, { level: 1 }) : message;
  const prefix = Buffer.from([compressed ? 1 : 0, 0, 0, 0, 0]);
  prefix.writeUInt32BE(bytes.length, 1);
  const session = connect(url);
  await once(session, 'connect');
  try {
    const call = session.request({
      ...{ ':method': 'POST', ':path': path, 'content-type': contentType, te: 'trailers' },
      authorization: 'Bearer part-1',
      ...(compressed && { [isEnveloped ? 'grpc-encoding' : 'content-encoding']: 'gzip' }),
    });
    const answer: string[] = [];
    const note = (headers: Readonly<Record<string, unknown>>): void => {
      for (const name of ['grpc-status', 'grpc-message'])
        if (headers[name] !== undefined) answer.push(String(headers[name]));
    };
    call.on('response', note).on('trailers', note);
    call.setEncoding('latin1').on('data', (text: string) => answer.push(text));
    call.end(isEnveloped ? Buffer.concat([prefix, bytes]) : bytes);
    await once(call, 'close');
    return decodeURIComponent(answer.join(' '));
  } finally {
    session.destroy();
  }
}

test.each(['application/grpc', 'application/grpc-web+proto', 'application/proto'])(
  'D48 an upload over %s reaches its decoder as sent, compressed or not',
  async (contentType) => {
    await using server = await startUploadServer();
    for (const compressed of [false, true])
      await send(server.url, Buffer.concat([head(), contents(valid, 3)]), { contentType, compressed });
    await send(server.url, Buffer.concat([head(), contents(valid, 3)]).subarray(0, -1), { contentType });
    expect((await logged(server.log)).map(celsius)).toEqual([
      [20.5, 20.5, 20.5],
      [20.5, 20.5, 20.5],
    ]);
  },
);

test('D48 D14 half a million empty readings are named in a few lines, the others are stored, and the event loop goes on', async () => {
  await using server = await startUploadServer();
  let turns = 0;
  const turning = setInterval(() => turns++, 1);
  const count = 500_000;
  const answer = await send(server.url, Buffer.concat([head(), contents(valid), contents(new Uint8Array(), count)]));
  clearInterval(turning);

  expect(answer).toMatch(/0$/);
  expect(turns).toBeGreaterThan(3);
  const [upload] = await logged(server.log);
  expect(upload && celsius(upload)).toEqual([20.5]);
  expect(upload?.gaps).toHaveLength(1_001);
  expect(upload?.gaps.at(-1)).toMatchObject({
    index: 1_001,
    reason: `this and ${count - 1_001} readings after it: expected a document or bytes, found neither`,
  });
  expect(server.gaps).toHaveLength(21);
  expect(server.gaps[0]).toContain('sensor_contents[1] of thermometer was not stored: expected a document');
  expect(server.gaps[20]).toBe('further readings of thermometer, from sensor_contents[21] on, were not stored');
});

test('D48 D13 a reading of 4 MB of short keys is stored, and recognised when a public client sends it in another order', async () => {
  await using server = await startUploadServer();
  const keys = Array.from({ length: 200_000 }, (_, index) => index.toString(36));
  const upload = (order: readonly string[]): Uint8Array =>
    toBinary(
      DataCaptureUploadRequestSchema,
      create(DataCaptureUploadRequestSchema, {
        metadata: metadata(),
        sensorContents: [
          { metadata: times, data: { case: 'struct', value: Object.fromEntries(order.map((key) => [key, true])) } },
        ],
      }),
    );
  const first = await send(server.url, upload(keys));
  expect(await send(server.url, upload(keys.toReversed()))).toBe(first);
  expect(await logged(server.log)).toHaveLength(1);
  expect(await send(server.url, upload(keys.slice(1)))).not.toBe(first);
  expect(await logged(server.log)).toHaveLength(2);
});

test('D48 more readings than bytes of captured ones allow, or without times, are refused by name before anything is stored', async () => {
  await using server = await startUploadServer();
  const sending = (count: number, bytes: Uint8Array): Promise<string> =>
    send(server.url, Buffer.concat([head(), contents(bytes, count)]));
  expect(await sending(2 ** 20 + 1, new Uint8Array())).toContain('at most 1048576 readings in sensor_contents');
  // An empty document without times.
  expect(await sending(100_001, Uint8Array.of(0x12, 0))).toContain('at most 100000 readings without time_requested');
  expect(await logged(server.log)).toEqual([]);
});

import { readdir, readFile } from 'node:fs/promises';
import { connect as connectHttp2, constants } from 'node:http2';
import { join } from 'node:path';
import { create, type DescMessage, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  DataSyncService,
  DataType,
  FileUploadRequestSchema,
  StreamingDataCaptureUploadRequestSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { LoggedUploadSchema } from '@platform/proto/platform/ingest/v1/log';
import { connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { startUploadServer, type UploadServer } from './testing/upload-server.ts';

const identity = { stream: new Uint8Array(16).fill(3), seq: 1n, floor: 1n };
const chunks = Array.from({ length: 12 }, () => crypto.getRandomValues(new Uint8Array(30_000)));
const takenMs = Date.UTC(2026, 2, 4, 5, 6, 7);
const uploadMetadata = {
  partId: 'part-1',
  componentType: 'core:component:camera',
  componentName: 'c',
  methodName: 'ReadImage',
  fileName: 'c.jpeg',
  identity,
};

const filePackets: MessageInitShape<typeof FileUploadRequestSchema>[] = [
  { uploadPacket: { case: 'metadata', value: { ...uploadMetadata, type: DataType.FILE } } },
  ...chunks.map((data) => ({ uploadPacket: { case: 'fileContents' as const, value: { data } } })),
];
const sensorMetadata = { timeRequested: timestampFromMs(takenMs), timeReceived: timestampFromMs(takenMs) };
const streamPackets: MessageInitShape<typeof StreamingDataCaptureUploadRequestSchema>[] = [
  {
    uploadPacket: {
      case: 'metadata',
      value: { uploadMetadata: { ...uploadMetadata, type: DataType.BINARY_SENSOR }, sensorMetadata },
    },
  },
  ...chunks.map((value) => ({ uploadPacket: { case: 'data' as const, value } })),
];

function enveloped<D extends DescMessage>(schema: D, packet: MessageInitShape<D>): Buffer {
  const message = toBinary(schema, create(schema, packet));
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

async function filesOf(server: UploadServer): Promise<string[]> {
  const entries = await readdir(server.blobDirectory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Ways in which a gRPC client may break off; `cancel` is what Node's clients do: they send END_STREAM, then RST_STREAM. */
const cuts = ['cancel', 'session', 'socket'] as const;

/** Sends the messages, waits until the payload is being written, and cuts the connection. */
async function cut(server: UploadServer, method: string, sent: readonly Buffer[], how: (typeof cuts)[number]) {
  const session = connectHttp2(server.url);
  session.on('error', () => {});
  const stream = session.request({
    ':method': 'POST',
    ':path': `/viam.app.datasync.v1.DataSyncService/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.on('error', () => {});
  for (const bytes of sent) stream.write(bytes);
  await expect.poll(() => filesOf(server), { interval: 1 }).not.toEqual([]);
  if (how === 'cancel') stream.close(constants.NGHTTP2_CANCEL);
  else if (how === 'session') session.destroy();
  else session.socket.destroy();
  await expect.poll(() => stream.closed && session.destroy() === undefined).toBe(true);
}

test.each([
  ['FileUpload', filePackets.map((packet) => enveloped(FileUploadRequestSchema, packet))],
  [
    'StreamingDataCaptureUpload',
    streamPackets.map((packet) => enveloped(StreamingDataCaptureUploadRequestSchema, packet)),
  ],
])(
  'I4 I5 a %s cut off at any point leaves no row and no payload, and a complete one afterwards is stored',
  async (method, packets) => {
    await using server = await startUploadServer();
    for (let round = 0; round < 60; round++) {
      const how = cuts[round % cuts.length] ?? 'cancel';
      const whole = 1 + (round % packets.length);
      // Every other cut is in the middle of a message.
      const half = packets[whole]?.subarray(0, round % 2 === 0 ? 0 : 1 + Math.floor(Math.random() * 20_000));
      await cut(server, method, [...packets.slice(0, whole), half ?? Buffer.alloc(0)], how);
      await expect.poll(() => filesOf(server), { interval: 1 }).toEqual([]);
      expect(server.log.lastPosition(), `${how} after ${whole} messages`).toBe(0);
    }

    await using link = connect({ baseUrl: server.url });
    const client = link.client(DataSyncService);
    const answer = await (method === 'FileUpload'
      ? client.fileUpload(each(filePackets))
      : client.streamingDataCaptureUpload(each(streamPackets)));
    const rows = await server.log.read(0, { rows: 10, bytes: 2 ** 30 });
    const uploads = rows.map(({ batch }) => fromBinary(LoggedUploadSchema, batch));
    expect(uploads.map(({ fileId }) => fileId)).toEqual([answer.binaryDataId]);
    const [file, ...others] = await filesOf(server);
    expect(others).toEqual([]);
    expect(Buffer.compare(await readFile(file ?? ''), Buffer.concat(chunks))).toBe(0);
  },
);

test('I5 a connection whose requests break off in the middle leaves nothing and stays usable', async () => {
  await using server = await startUploadServer();
  await using link = connect({ baseUrl: server.url });
  const client = link.client(DataSyncService);
  for (let round = 0; round < 20; round++) {
    const unreadable = async function* (): AsyncGenerator<(typeof filePackets)[number]> {
      yield* filePackets.slice(0, 1 + (round % filePackets.length));
      await expect.poll(() => filesOf(server), { interval: 1 }).not.toEqual([]);
      throw new Error('the file cannot be read');
    };
    await expect(client.fileUpload(unreadable())).rejects.toThrow();
    await expect.poll(() => filesOf(server), { interval: 1 }).toEqual([]);
    expect(server.log.lastPosition()).toBe(0);
  }
  await client.fileUpload(each(filePackets));
  expect(server.log.lastPosition()).toBe(1);
});

async function* each<T>(packets: readonly T[]): AsyncGenerator<T> {
  yield* packets;
}

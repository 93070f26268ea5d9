import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { create } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { FakeClock, selfSigned } from '@platform/testkit';
import { expect, test } from 'vitest';
import { headersFrame, preface, rawFrame } from '../../test/cut-requests.ts';
import { hello, say } from '../../test/echo-requests.ts';
import { EchoService } from '../../test/echo-service.ts';
import { grpcJs, unary } from '../../test/grpc-js.ts';
import { credentials, startEcho } from '../../test/start-echo.ts';
import { connect as connectLink } from '../link/connect.ts';

const headers = headersFrame(say, 'application/grpc');
const nothing = Buffer.alloc(0);
const reset = rawFrame(3, 0, 1, [0, 0, 0, 8]);

/** The bytes sent first, and the frame that is repeated. */
const floods: Readonly<Record<string, readonly [Buffer, Buffer]>> = {
  'WINDOW_UPDATE of the connection': [nothing, rawFrame(8, 0, 0, [0, 0, 0, 1])],
  'WINDOW_UPDATE of a stream': [headers, rawFrame(8, 0, 1, [0, 0, 0, 1])],
  'WINDOW_UPDATE of a stream that is closed': [Buffer.concat([headers, reset]), rawFrame(8, 0, 1, [0, 0, 0, 1])],
  PING: [nothing, rawFrame(6, 0, 0, new Uint8Array(8))],
  'PING that acknowledges': [nothing, rawFrame(6, 1, 0, new Uint8Array(8))],
  SETTINGS: [nothing, rawFrame(4, 0, 0, [])],
  'SETTINGS that acknowledges': [nothing, rawFrame(4, 1, 0, [])],
  'DATA without a byte': [headers, rawFrame(0, 0, 1, [])],
  'CONTINUATION without a byte': [rawFrame(1, 0, 1, []), rawFrame(9, 0, 1, [])],
  PRIORITY: [nothing, rawFrame(2, 0, 3, [0, 0, 0, 0, 1])],
  'RST_STREAM of a stream that is closed': [Buffer.concat([headers, reset]), reset],
  'frames of an unknown type': [nothing, rawFrame(0x42, 0, 0, [])],
};

/** Sends 1,500 frames in each second of the server's clock; resolves with the seconds after which the connection was closed. */
async function flood(clock: FakeClock, socket: Socket, [first, one]: readonly [Buffer, Buffer]): Promise<number> {
  socket.on('error', () => {});
  socket.resume();
  socket.write(Buffer.concat([preface, first]));
  const frames = Buffer.concat(Array.from({ length: 1_500 }, () => one));
  for (let seconds = 0; ; seconds++) {
    if (socket.destroyed || seconds > 60) return seconds;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        socket.off('close', done);
        resolve();
      };
      socket.once('close', done).write(frames, done);
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.advance(1_000);
  }
}

test.each(Object.entries(floods))(
  'F19 a flood of %s closes the connection within 30 s, and no other',
  async (_, frames) => {
    const clock = new FakeClock();
    await using server = await startEcho({}, { clock });
    const other = grpcJs(server.port);
    const ask = () => unary(other, say, [StringValueSchema, hello], StringValueSchema);
    await ask();
    const socket = connect({ host: '127.0.0.1', port: server.port });
    expect(await flood(clock, socket, frames)).toBeLessThanOrEqual(30);
    expect((await ask()).value).toBe('you said hello');
    other.close();
  },
);

test('F19 a flood of WINDOW_UPDATE under TLS closes the connection within 30 s', async () => {
  const tls = await selfSigned();
  const clock = new FakeClock();
  await using server = await startEcho({}, { clock, tls });
  const socket = connectTls({
    host: '127.0.0.1',
    port: server.port,
    ca: tls.cert,
    servername: 'localhost',
    ALPNProtocols: ['h2'],
  });
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  const frames = floods['WINDOW_UPDATE of the connection'] ?? [nothing, nothing];
  expect(await flood(clock, socket, frames)).toBeLessThanOrEqual(30);
});

test('F19 a connection busy with calls, uploads, downloads and small messages is not taken for a flood', async () => {
  const clock = new FakeClock();
  await using server = await startEcho({}, { clock });
  await using link = connectLink({ baseUrl: server.url, credentials });
  const client = link.client(EchoService);
  const words = 'word '.repeat(1_000).trim();
  const large = 'x'.repeat(3_000_000);
  for (let round = 0; round < 4; round++) {
    const calls = Array.from({ length: 300 }, () => client.say({ value: 'x' }));
    let count = 0;
    for await (const _word of client.split({ value: words })) count++;
    async function* many() {
      for (let at = 0; at < 1_000; at++) yield create(StringValueSchema, { value: 'y' });
    }
    let echoed = 0;
    for await (const _echo of client.chat(many())) echoed++;
    expect([count, echoed, (await client.say({ value: large })).value.length]).toEqual([
      1_000,
      1_000,
      large.length + 9,
    ]);
    await Promise.all(calls);
    await clock.advance(5_000);
  }
  expect(server.logged.filter((line) => /flood/.test(line))).toEqual([]);
});

test('a client that breaks the protocol after GOAWAY, and is gone, does not leave its connection and its call behind', async () => {
  const clock = new FakeClock();
  await using server = await startEcho({}, { clock });
  const socket = connect(server.port, '127.0.0.1').on('error', () => {});
  const goaway = rawFrame(7, 0, 0, new Uint8Array(8));
  const shortPing = rawFrame(6, 0, 0, new Uint8Array(7));
  const begun = Buffer.concat([preface, headers, goaway, shortPing]);
  // The end of the answer to GOAWAY: by then, the server has read everything.
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (bytes: Buffer) => bytes.includes(Buffer.of(0, 0, 8, 7)) && resolve());
  });
  socket.write(begun);
  await answered;
  socket.destroy();
  let isClosed = false;
  // Without a limit, it waits for all connections.
  const closing = server.close({ graceMs: 2 ** 31 - 1 }).then(() => {
    isClosed = true;
  });
  while (!isClosed) {
    await clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await closing;
});

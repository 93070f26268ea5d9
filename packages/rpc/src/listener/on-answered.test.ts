/** Handlers learn whether their answer was delivered. */
import { once } from 'node:events';
import { connect, constants } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { expect, test } from 'vitest';
import { helloBytes, json, say } from '../../test/echo-requests.ts';
import { frame } from '../../test/grpc-web.ts';
import { type EchoServer, startEcho } from '../../test/start-echo.ts';

interface Rig {
  readonly server: EchoServer;
  /** Resolves when the handler has begun. */
  readonly begun: Promise<void>;
  /** Lets the handler answer. */
  readonly answer: () => void;
  readonly delivered: Promise<boolean>;
}

async function start(value = 'yes', error?: Error): Promise<Rig> {
  const begun = Promise.withResolvers<void>();
  const allowed = Promise.withResolvers<void>();
  const delivered = Promise.withResolvers<boolean>();
  const server = await startEcho({
    async say(_request, call) {
      begun.resolve();
      await allowed.promise;
      call.onAnswered(delivered.resolve);
      if (error !== undefined) throw error;
      return { value };
    },
  });
  return { server, begun: begun.promise, answer: allowed.resolve, delivered: delivered.promise };
}

const grpc = { 'content-type': 'application/grpc+proto', te: 'trailers', authorization: 'Bearer token-1' };

/** @param more headers; an origin makes the request take the general path */
function overHttp2({ server }: Rig, more: Readonly<Record<string, string>> = {}) {
  const session = connect(server.url);
  session.on('error', () => {});
  const stream = session.request({ ':method': 'POST', ':path': say, ...grpc, ...more });
  stream.on('error', () => {});
  stream.end(frame(helloBytes));
  return { session, stream };
}

const paths = [
  ['the fast path', {}],
  ['the general path', { origin: 'http://x' }],
] as const;

test.each(paths)('an answer and an error over HTTP/2 are delivered: %s', async (_name, more) => {
  for (const error of [undefined, new Error('not foreseen')]) {
    const rig = await start('yes', error);
    await using _server = rig.server;
    const { session, stream } = overHttp2(rig, more);
    rig.answer();
    stream.resume();
    await once(stream, 'close');
    expect(await rig.delivered).toBe(true);
    session.destroy();
  }
});

test('an answer over HTTP/1.1 is delivered', async () => {
  const rig = await start();
  await using server = rig.server;
  rig.answer();
  const response = await fetch(server.url + say, { method: 'POST', headers: json, body: '"hello"' });
  expect(response.status).toBe(200);
  expect(await rig.delivered).toBe(true);
});

test.each(paths)('a client that resets its stream, or leaves, gets no answer: %s', async (_name, more) => {
  for (const leave of ['reset', 'destroy'] as const) {
    const rig = await start();
    await using _server = rig.server;
    const { session, stream } = overHttp2(rig, more);
    await rig.begun;
    if (leave === 'reset') {
      stream.close(constants.NGHTTP2_CANCEL);
      // The PING is answered after the reset was read.
      await new Promise<void>((resolve) => session.ping(() => resolve()));
    } else {
      session.destroy();
      await expect.poll(() => rig.server.calls[0]?.signal.aborted).toBe(true);
    }
    rig.answer();
    expect(await rig.delivered).toBe(false);
    session.destroy();
  }
});

test.each(paths)('a client that leaves while a long answer is written does not get it: %s', async (_name, more) => {
  const rig = await start('x'.repeat(4 << 20));
  await using _server = rig.server;
  const { session, stream } = overHttp2(rig, more);
  rig.answer();
  await once(stream, 'response');
  session.destroy();
  expect(await rig.delivered).toBe(false);
});

test('a client that disconnects over HTTP/1.1 gets no answer', async () => {
  const rig = await start();
  await using server = rig.server;
  const socket = connectTcp(server.port, '127.0.0.1');
  const headers = Object.entries({ host: 'x', ...json, 'content-length': '7' });
  socket.write(
    `POST ${say} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n"hello"`,
  );
  await rig.begun;
  socket.destroy();
  await expect.poll(() => server.calls[0]?.signal.aborted).toBe(true);
  rig.answer();
  expect(await rig.delivered).toBe(false);
});

test.each(paths)('an answer after the deadline is not delivered: %s', async (_name, more) => {
  const rig = await start();
  await using _server = rig.server;
  const { session, stream } = overHttp2(rig, { ...more, 'grpc-timeout': '1S' });
  stream.resume();
  await once(stream, 'close');
  rig.answer();
  expect(await rig.delivered).toBe(false);
  session.destroy();
});

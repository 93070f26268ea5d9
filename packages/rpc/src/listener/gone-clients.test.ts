/** Clients that disconnect while a stream is written to them. */
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { helloBytes } from '../../test/echo-requests.ts';
import { frame, grpcWeb } from '../../test/grpc-web.ts';
import { startEcho } from '../../test/start-echo.ts';

const path = '/platform.test.v1.EchoService/Split';
const body = frame(helloBytes);
const headers = { 'content-type': 'application/grpc-web+proto', authorization: 'Bearer token-1' };
const unforeseen = 'error a call failed with an unexpected error';

async function overHttp1(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  const lines = Object.entries({ host: 'x', ...headers, 'content-length': body.length });
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  socket.write(body);
  return socket;
}

async function overHttp2(port: number): Promise<Socket> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  const stream = session.request({ ...headers, ':method': 'POST', ':path': path });
  stream.on('error', () => {});
  stream.end(body);
  await once(stream, 'response');
  return session.socket as Socket;
}

test.each([
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
])('a client that disconnects during a write is not an unexpected fault: %s', async (_name, ask) => {
  for (const leave of ['resetAndDestroy', 'destroy'] as const) {
    let given = 0;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    await using server = await startEcho({
      async *split() {
        try {
          for (;;) {
            given++;
            yield { value: 'x'.repeat(100_000) };
          }
        } finally {
          resolve();
        }
      },
    });
    const socket = await ask(server.port);
    socket.on('error', () => {});
    // The client reads nothing, so the server soon blocks on a write. A single check may come too early if the process was not scheduled.
    for (let before = 0, same = 0; same < 3; before = given) {
      await new Promise((pass) => setTimeout(pass, 100));
      same = given > before || given === 0 ? 0 : same + 1;
    }
    socket[leave]();
    await ended;
    await expect.poll(() => server.logged.join('\n')).toContain('debug a response could not be delivered');
    expect(server.logged.filter((line) => !line.startsWith('debug'))).toEqual([]);
  }
});

test('if the method’s own connection breaks while its client is connected, that is an unforeseen fault', async () => {
  await using server = await startEcho({
    async *split() {
      yield { value: 'first' };
      throw Object.assign(new Error('write ECANCELED'), { code: 'ECANCELED', syscall: 'write' });
    },
  });
  const { trailers } = await grpcWeb(server.url + path, helloBytes);
  expect(trailers['grpc-status']).toBe('13');
  expect(server.logged).toEqual([expect.stringContaining(unforeseen)]);
});

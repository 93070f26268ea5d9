import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type Clock, systemClock } from '@platform/base';
import { selfSigned, spawnChild } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { EchoService } from '../../../test/echo-service.ts';
import { credentials, startEcho } from '../../../test/start-echo.ts';
import { connect } from '../../link/connect.ts';
import { lingerMs } from '../limits.ts';
import { OpenConnections } from './open-connections.ts';

const head = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

/** A connection of HTTP/1.1 with one answered request. */
async function asked(socket: Socket): Promise<Socket> {
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {}).write(head);
  await once(socket, 'data');
  return socket.resume();
}

/** The same of HTTP/2. */
async function askedOverHttp2(url: string): Promise<ClientHttp2Session> {
  const session = connectHttp2(url).on('error', () => {});
  onTestFinished(() => session.destroy());
  await once(session.request({ ':path': '/' }).resume(), 'close');
  return session;
}

const closed = (sockets: readonly { readonly closed: boolean }[]): boolean[] => sockets.map((each) => each.closed);

test('R17 beyond the bound, the connection that has been idle for longest ends, over both versions of HTTP; a new request makes it young', async () => {
  const open = new OpenConnections({ inAll: 4, leaving: 9 });
  await using server = await startEcho({}, { openConnections: open });
  const dial = () => asked(connectTcp(server.port, '127.0.0.1'));
  const first = await dial();
  const second = await askedOverHttp2(server.url);
  const told = once(second, 'goaway');
  const third = await dial();
  first.write(head);
  await once(first, 'data');
  const fourth = await askedOverHttp2(server.url);
  expect(closed([first, second, third, fourth])).toEqual([false, false, false, false]);
  const fifth = await dial();
  // Its client knows that no request was lost.
  expect((await told)[0]).toBe(0);
  await expect.poll(() => closed([first, second, third, fourth, fifth])).toEqual([false, true, false, false, false]);
  const sixth = await askedOverHttp2(server.url);
  await expect.poll(() => closed([first, third, fourth, fifth, sixth])).toEqual([false, true, false, false, false]);
  await expect.poll(() => open.size).toBe(4);
});

test('R17 a connection with a request in progress, an open stream or a WebSocket is never idle', async () => {
  const open = new OpenConnections({ inAll: 3, leaving: 9 });
  let release = (): void => {};
  await using server = await startEcho(
    {},
    {
      openConnections: open,
      fallback: ({ url }, response) => {
        const answer = (): void => void (response as { end(): void }).end();
        if (url === '/later') release = answer;
        else answer();
      },
      upgrade: (_request, socket) => void socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    },
  );
  const dial = () => connectTcp(server.port, '127.0.0.1').on('error', () => {});
  const waiting = dial();
  waiting.write(head.replace('/', '/later'));
  const webSocket = dial();
  webSocket.write(head.replace('host: x', 'host: x\r\nconnection: upgrade\r\nupgrade: websocket'));
  await once(webSocket, 'data');
  await using link = connect({ baseUrl: server.url, credentials });
  let send = (): void => {};
  const more = new Promise<void>((resolve) => (send = resolve));
  const words = link
    .client(EchoService)
    .chat(
      (async function* () {
        yield { value: 'one' };
        await more;
        yield { value: 'two' };
      })(),
    )
    [Symbol.asyncIterator]();
  expect((await words.next()).value).toMatchObject({ value: 'ONE' });
  expect(open.size).toBe(3);
  // Each is served, and then ends.
  for (let each = 0; each < 3; each++) {
    const socket = await asked(dial());
    await expect.poll(() => socket.closed).toBe(true);
  }
  send();
  expect((await words.next()).value).toMatchObject({ value: 'TWO' });
  expect(closed([waiting, webSocket])).toEqual([false, false]);
  release();
  expect(String((await once(waiting, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
  waiting.destroy();
  webSocket.destroy();
});

test('R17 under TLS the same holds for both versions of HTTP', async () => {
  const tls = await selfSigned();
  const open = new OpenConnections({ inAll: 2, leaving: 9 });
  await using server = await startEcho({}, { tls, openConnections: open });
  const dial = () =>
    asked(connectTls({ port: server.port, host: '127.0.0.1', ca: tls.cert, ALPNProtocols: ['http/1.1'] }));
  const first = await dial();
  await using link = connect({ baseUrl: server.url, credentials, ca: tls.cert });
  expect((await link.client(EchoService).say({ value: 'x' })).value).toBe('you said x');
  const second = await dial();
  await expect.poll(() => closed([first, second])).toEqual([true, false]);
  const third = await dial();
  // That was the link, which makes a new connection for the next call.
  await expect.poll(() => open.size).toBe(2);
  expect(closed([second, third])).toEqual([false, false]);
  expect((await link.client(EchoService).say({ value: 'y' })).value).toBe('you said y');
  await expect.poll(() => closed([second, third])).toEqual([true, false]);
});

test('R17 an answer on its way to a slow reader arrives before its connection ends', async () => {
  const body = Buffer.alloc(24 * 1024 * 1024, 1);
  const open = new OpenConnections({ inAll: 1, leaving: 9 });
  const clock: Clock = {
    ...systemClock,
    after: (ms, run) => (ms === lingerMs ? { [Symbol.dispose]() {} } : systemClock.after(ms, run)),
  };
  await using server = await startEcho(
    {},
    {
      ...{ openConnections: open, clock },
      fallback: (_request, response) => void (response as { end(body: Buffer): void }).end(body),
    },
  );
  await asked(connectTcp(server.port, '127.0.0.1'));
  const session = connectHttp2(server.url, { settings: { initialWindowSize: 2 ** 30 } });
  onTestFinished(() => session.destroy());
  session.on('connect', () => session.setLocalWindowSize(2 ** 30));
  let bytes = 0;
  const stream = session.request({ ':path': '/' });
  stream.on('data', (chunk: Buffer) => (bytes += chunk.length));
  await asked(connectTcp(server.port, '127.0.0.1'));
  await once(stream, 'close');
  expect(bytes).toBe(body.length);
});

test('R17 of connections that were asked to end and do not, only few are waited for', async () => {
  const open = new OpenConnections({ inAll: 2, leaving: 1 });
  await using server = await startEcho({}, { openConnections: open });
  const request = Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
    // HEADERS with END_STREAM and END_HEADERS: GET, http, /, authority x.
    Buffer.from([0, 0, 6, 1, 5, 0, 0, 0, 1, 0x82, 0x86, 0x84, 0x41, 1, 0x78]),
  ]);
  const sockets: Socket[] = [];
  for (let each = 0; each < 8; each++) {
    // It keeps its side open, and reads only the answer.
    const socket = connectTcp({ port: server.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
    onTestFinished(() => void socket.destroy());
    socket.write(request);
    sockets.push(socket.resume());
    const left = Math.max(0, each - 2);
    await expect.poll(() => sockets.filter(({ readableEnded }) => readableEnded)).toHaveLength(Math.max(0, each - 1));
    await expect.poll(() => open.size).toBe(each + 1 - left);
  }
});

test('R17 of all ports and sockets together, half of the descriptors may be connections, and a sixteenth more may be ending', async () => {
  const program = `
    import { openConnections } from ${JSON.stringify(new URL('./open-connections.ts', import.meta.url).href)};
    const ended = { leave: 0, cut: 0 };
    for (let each = 0; each < 200; each++) {
      const one = { leave: () => ended.leave++, cut() { ended.cut++; openConnections.closed(one); } };
      openConnections.opened();
      openConnections.busy(one);
      openConnections.idle(one);
    }
    setImmediate(() => setImmediate(() => console.log(JSON.stringify({ size: openConnections.size, ...ended }))));`;
  const node = [process.execPath, '--conditions=@platform/source', '--input-type=module', '--eval', program];
  await using child = spawnChild('sh', ['-c', 'ulimit -n 256 && exec "$@"', 'sh', ...node]);
  expect(await child.waitForLine(() => true)).toEqual({ size: 144, leave: 72, cut: 56 });
});

test('R17 a client that keeps its connections has its answers, whatever was ended meanwhile', async () => {
  const open = new OpenConnections({ inAll: 3, leaving: 1 });
  await using server = await startEcho({}, { openConnections: open });
  const links = Array.from({ length: 8 }, () => connect({ baseUrl: server.url, credentials }));
  onTestFinished(async () => {
    for (const link of links) await link[Symbol.asyncDispose]();
  });
  for (let round = 0; round < 5; round++)
    for (const link of links) expect((await link.client(EchoService).say({ value: 'x' })).value).toBe('you said x');
  await expect.poll(() => open.size).toBeLessThanOrEqual(3);
});

import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type Clock, systemClock } from '@platform/base';
import { FakeClock, selfSigned, spawnChild, temporaryDirectory } from '@platform/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EchoService } from '../../../test/echo-service.ts';
import { credentials, startEcho } from '../../../test/start-echo.ts';
import { connect } from '../../link/connect.ts';
import { createRpcServer } from '../rpc-server.ts';
import { SilentConnections } from './silent-connections.ts';

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const emptySettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

/** What a connection may send without asking for anything. */
const beginnings: Readonly<Record<string, Buffer>> = {
  nothing: Buffer.alloc(0),
  'half a request line': Buffer.from('GET /hea'),
  'half the headers': Buffer.from('POST / HTTP/1.1\r\nhost: x\r\nx-more: '),
  'the preface of HTTP/2': preface,
  'preface and SETTINGS': Buffer.concat([preface, emptySettings]),
};

function dial(target: number | string): Socket {
  const socket = typeof target === 'number' ? connectTcp(target, '127.0.0.1') : connectTcp(target);
  socket.on('error', () => {}).resume();
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** A clock whose waits of this length end when the test says so. */
function waiting(ms: number) {
  const due = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    after(afterMs, run) {
      if (afterMs !== ms) return systemClock.after(afterMs, run);
      due.add(run);
      return { [Symbol.dispose]: () => void due.delete(run) };
    },
  };
  return { clock, due };
}

describe.each(Object.entries(beginnings))('R17 a connection that has sent %s', (_what, bytes) => {
  test('is the first to be cut when too many of its address are silent; one that has asked stays', async () => {
    const clock = new FakeClock();
    const silent = new SilentConnections({ inAll: 100, ofAddress: 3 }, clock);
    await using server = await startEcho({}, { silentConnections: silent });
    await using link = connect({ baseUrl: server.url, credentials });
    await link.client(EchoService).say({ value: 'first' });
    await expect.poll(() => silent.size).toBe(0);
    const sockets: Socket[] = [];
    for (let each = 0; each < 5; each++) {
      const socket = dial(server.port);
      socket.write(bytes);
      sockets.push(socket);
      await expect.poll(() => silent.size).toBe(each + 1);
    }
    await clock.advance(4_500);
    expect(sockets.filter(({ closed }) => closed)).toEqual([]);
    await clock.advance(500);
    await expect.poll(() => sockets.map(({ closed }) => closed)).toEqual([true, true, false, false, false]);
    expect((await link.client(EchoService).say({ value: 'x' })).value).toBe('you said x');
    expect(server.calls.at(-1)?.peerAddress).toBe(server.calls[0]?.peerAddress);
  });

  test('is cut when its time is over, and not counted any more', async () => {
    const silent = new SilentConnections({ inAll: 100, ofAddress: 3 });
    const { clock, due } = waiting(10_000);
    await using server = await startEcho({}, { silentConnections: silent, clock });
    const socket = dial(server.port);
    socket.write(bytes);
    await expect.poll(() => due.size).toBe(1);
    const [end] = due;
    // Further bytes that complete nothing do not prolong it.
    if (bytes.length > 0) socket.write('x');
    end?.();
    await once(socket, 'close');
    await expect.poll(() => silent.size).toBe(0);
  });
});

test('R17 under TLS, a connection that only shook hands is silent, over both versions of HTTP, and one that has asked is not', async () => {
  const tls = await selfSigned();
  const clock = new FakeClock();
  const silent = new SilentConnections({ inAll: 100, ofAddress: 3 }, clock);
  await using server = await startEcho({}, { tls, silentConnections: silent });
  await using link = connect({ baseUrl: server.url, credentials, ca: tls.cert });
  await link.client(EchoService).say({ value: 'first' });
  expect(silent.size).toBe(0);
  const sockets: Socket[] = [];
  for (const protocol of ['http/1.1', 'h2', 'http/1.1', 'h2']) {
    const socket = connectTls({ port: server.port, host: '127.0.0.1', ca: tls.cert, ALPNProtocols: [protocol] });
    socket.on('error', () => {}).resume();
    onTestFinished(() => void socket.destroy());
    await once(socket, 'secureConnect');
    sockets.push(socket);
  }
  await clock.advance(5_000);
  await expect.poll(() => sockets.map(({ closed }) => closed)).toEqual([true, false, false, false]);
  sockets[2]?.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await expect.poll(() => silent.size).toBe(2);
  expect((await link.client(EchoService).say({ value: 'x' })).value).toBe('you said x');
});

test('R17 on a Unix socket only the limit for all applies', async () => {
  await using directory = await temporaryDirectory();
  const path = directory.file('parent.sock');
  const silent = new SilentConnections({ inAll: 5, ofAddress: 1 });
  await using server = createRpcServer({
    ...{ services: [], open: [], authenticate: async () => 'caller', silentConnections: silent },
    fallback: (_request, response) => void response.end(),
    log: { debug() {}, info() {}, warn() {}, error() {}, child: () => ({}) } as never,
  });
  await server.listenOnSocket(path);
  const sockets = Array.from({ length: 6 }, () => dial(path));
  await expect.poll(() => sockets.filter(({ closed }) => closed)).toHaveLength(1);
  expect(silent.size).toBe(5);
});

test('R17 a client of HTTP/2 is told before it is cut, so that it may send its requests again', async () => {
  const { clock, due } = waiting(10_000);
  await using server = await startEcho(
    {},
    { silentConnections: new SilentConnections({ inAll: 9, ofAddress: 9 }), clock },
  );
  const session = connectHttp2(server.url);
  const told = once(session, 'goaway');
  await once(session, 'remoteSettings');
  for (const end of due) end();
  expect((await told)[0]).toBe(0);
  await once(session, 'close');
});

test('R17 of all addresses together, a quarter of the descriptors may be silent', async () => {
  const program = `
    import { silentConnections } from ${JSON.stringify(new URL('./silent-connections.ts', import.meta.url).href)};
    let cut = 0;
    for (let each = 0; each < 300; each++) silentConnections.add('10.0.0.' + (each % 256), () => cut++);
    console.log(JSON.stringify({ size: silentConnections.size, cut }));`;
  const node = [process.execPath, '--conditions=@platform/source', '--input-type=module', '--eval', program];
  await using child = spawnChild('sh', ['-c', 'ulimit -n 256 && exec "$@"', 'sh', ...node]);
  expect(await child.waitForLine(() => true)).toEqual({ size: 64, cut: 236 });
});

test('R17 of one address, 32 may be silent: with one more it pays for the limit for all, and not an address with 32', async () => {
  const program = `
    import { silentConnections } from ${JSON.stringify(new URL('./silent-connections.ts', import.meta.url).href)};
    const cut = [];
    const add = (address, count) => {
      for (let each = 0; each < count; each++) silentConnections.add(address, () => cut.push(address));
    };
    add('192.0.2.1', 32);
    add('192.0.2.2', 33);
    console.log(JSON.stringify({ size: silentConnections.size, cut }));`;
  const node = [process.execPath, '--conditions=@platform/source', '--input-type=module', '--eval', program];
  await using child = spawnChild('sh', ['-c', 'ulimit -n 256 && exec "$@"', 'sh', ...node]);
  expect(await child.waitForLine(() => true)).toEqual({ size: 64, cut: ['192.0.2.2'] });
});

test('R17 an address that fills the limit for all pays with its own connections; one that has few of its own keeps them', () => {
  const silent = new SilentConnections({ inAll: 10, ofAddress: 2 }, new FakeClock());
  const cut: string[] = [];
  const add = (address: string, count: number): void => {
    for (let each = 0; each < count; each++) silent.add(address, () => cut.push(address));
  };
  add('192.0.2.1', 2);
  add('192.0.2.2', 20);
  add('192.0.2.3', 2);
  expect([silent.size, new Set(cut)]).toEqual([10, new Set(['192.0.2.2'])]);
});

// The machines of a site, after the cloud was away: one address, all at once, while the server has other things to do.
test.each([
  ['http', 0],
  ['https', 300],
] as const)(
  'R17 100 clients at one address that connect over %s at the same moment are all served',
  async (scheme, stallMs) => {
    const tls = scheme === 'https' ? await selfSigned() : undefined;
    await using server = await startEcho(
      {},
      { ...(tls && { tls }), fallback: (_request, response) => void (response as { end(): void }).end() },
    );
    const program = `
    import { request } from 'node:${scheme}';
    const options = { host: '127.0.0.1', port: ${server.port}, path: '/', agent: false, rejectUnauthorized: false };
    const ask = () => new Promise((resolve) => request(options, (answer) => { answer.resume(); resolve(answer.statusCode); }).on('error', (error) => resolve(error.code)).end());
    console.log('{}');
    const answers = await Promise.all(Array.from({ length: 100 }, ask));
    console.log(JSON.stringify({ answers: [...new Set(answers)] }));`;
    await using child = spawnChild(process.execPath, ['--input-type=module', '--eval', program]);
    await child.waitForLine(() => true);
    const untilMs = systemClock.monotonic() + stallMs;
    while (systemClock.monotonic() < untilMs);
    expect(await child.waitForLine(({ answers }) => answers !== undefined)).toEqual({ answers: [200] });
  },
);

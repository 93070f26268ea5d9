import { once } from 'node:events';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net';
import { duplexPair } from 'node:stream';
import { FakeClock, temporaryDirectory } from '@platform/testkit';
import { describe, expect, test } from 'vitest';
import { EchoService } from '../../../test/echo-service.ts';
import { startScriptedPeer } from '../../../test/scripted-peer.ts';
import { connect, connectOver } from '../connect.ts';
import { CallCutOff } from './connection.ts';

const lostCall = { code: 'unavailable' };

function answerEmpty(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.alloc(5));
}

/** Lets this much time pass, in steps between which everything can react; the promise must then settle by itself. */
async function after<T>(clock: FakeClock, ms: number, promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  for (let passed = 0; passed < ms; passed += 1_000) await clock.advance(1_000);
  return promise;
}

describe('a link that lies', () => {
  test.each([
    ['HTTP/1.1', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['zeros', '\0'.repeat(100)],
    ['TLS alerts', '\x15\x03\x01\x00\x02\x02\x28'.repeat(5)],
  ])('%s instead of HTTP/2 is UNAVAILABLE for the call, and the link ends', async (_what, bytes) => {
    for (const isRead of [true, false]) {
      const [near, far] = duplexPair();
      far.on('error', () => {});
      if (isRead) far.resume();
      far.write(bytes, 'latin1');
      await using link = connectOver({ stream: near, peerName: 'the machine', userAgent: 'test' });
      const ended = once(near, 'close');
      await expect(link.client(EchoService).say({})).rejects.toMatchObject(lostCall);
      await ended;
      await expect(link.client(EchoService).say({})).rejects.toMatchObject(lostCall);
    }
  });

  test('a peer that ends every connection at once costs each call two connections, not more', async () => {
    let count = 0;
    await using server = createServer((socket) => {
      count++;
      socket.on('error', () => {}).resume();
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await using link = connect({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    for (let call = 1; call <= 5; call++) {
      await expect(link.client(EchoService).say({})).rejects.toMatchObject(lostCall);
      expect(count).toBeLessThanOrEqual(2 * call);
    }
  });
});

describe('keep-alive', () => {
  test('a call whose peer went silent ends as UNAVAILABLE after 15 s and a PING of 5 s, and the next call connects anew', async () => {
    const arrived = Promise.withResolvers<void>();
    let isFirst = true;
    await using peer = await startScriptedPeer({
      answer(stream) {
        if (!isFirst) return answerEmpty(stream);
        isFirst = false;
        arrived.resolve();
      },
    });
    const clock = new FakeClock();
    await using link = connect({ baseUrl: peer.url, timeoutMs: 0, clock });
    const call = link.client(EchoService).say({});
    call.catch(() => {});
    await arrived.promise;
    const { socket, holdRequests } = await peer.connection(0);
    holdRequests(true);
    const pinged = once(socket, 'data');
    await clock.advance(15_000);
    await pinged;
    await clock.advance(4_900);
    expect(link.state).toBe('connected');
    await clock.advance(100);
    await expect(call).rejects.toMatchObject(lostCall);
    expect(link.state).toBe('unreachable');
    await link.client(EchoService).say({});
    expect(peer.connections).toHaveLength(2);
  });

  test('an answered PING keeps a call that takes minutes, and so does an answer that waits behind 15 s of an upload, beside which new calls get another connection', async () => {
    const arrived = Promise.withResolvers<ServerHttp2Stream>();
    let isFirst = true;
    await using peer = await startScriptedPeer({
      answer(stream) {
        if (!isFirst) return answerEmpty(stream);
        isFirst = false;
        arrived.resolve(stream.resume());
      },
    });
    const clock = new FakeClock();
    await using link = connect({ baseUrl: peer.url, timeoutMs: 0, clock });
    const echo = link.client(EchoService);
    const call = echo.say({ value: 'x'.repeat(100_000) });
    call.catch(() => {});
    const stream = await arrived.promise;
    const { session, holdRequests } = await peer.connection(0);
    holdRequests(true);
    await clock.advance(15_000);
    await clock.advance(15_000);
    expect(link.state).toBe('connected');
    holdRequests(false);
    for (let minute = 0; minute < 5; minute++) {
      // Its answer comes after that of the PING.
      await echo.say({});
      const pinged = once(session, 'ping');
      await clock.advance(15_000);
      await pinged;
    }
    answerEmpty(stream);
    expect(await call).toMatchObject({ value: '' });
    expect(peer.connections).toHaveLength(2);
  });

  test('a call that ends while a PING is out leaves its time limit in force: later calls get a new connection', async () => {
    let isFirst = true;
    const arrived = Promise.withResolvers<void>();
    await using peer = await startScriptedPeer({
      answer(stream) {
        if (!isFirst) return answerEmpty(stream);
        isFirst = false;
        arrived.resolve();
      },
    });
    const clock = new FakeClock();
    await using link = connect({ baseUrl: peer.url, timeoutMs: 0, clock });
    const leave = new AbortController();
    const call = link.client(EchoService).say({}, { signal: leave.signal });
    call.catch(() => {});
    await arrived.promise;
    const { socket, holdRequests } = await peer.connection(0);
    holdRequests(true);
    const pinged = once(socket, 'data');
    await clock.advance(15_000);
    await pinged;
    const next = link.client(EchoService).say({});
    leave.abort();
    await expect(call).rejects.toMatchObject({ code: 'canceled' });
    await after(clock, 6_000, next);
    expect(peer.connections).toHaveLength(2);
  });

  test('a connection that was idle is verified by the next call, which replaces it if it was half-open', async () => {
    await using peer = await startScriptedPeer({ answer: answerEmpty });
    const clock = new FakeClock();
    await using link = connect({ baseUrl: peer.url, timeoutMs: 0, clock });
    await link.client(EchoService).say({});
    await expect.poll(() => clock.waiting).toBe(0);
    await clock.advance(3_600_000);
    await link.client(EchoService).say({});
    expect(peer.connections).toHaveLength(1);
    await clock.advance(60_000);
    (await peer.connection(0)).holdRequests(true);
    await after(clock, 6_000, link.client(EchoService).say({}));
    expect(peer.connections).toHaveLength(2);
  });

  test('a change of the network replaces connections from addresses that are gone, and asks the peers of others', async () => {
    await using peer = await startScriptedPeer({ answer: answerEmpty });
    const clock = new FakeClock();
    await using link = connect({ baseUrl: peer.url, timeoutMs: 0, clock });
    const { say } = link.client(EchoService);
    await say({});
    link.networkChanged(new Set(['127.0.0.1', '192.168.7.3']));
    await say({});
    expect(peer.connections).toHaveLength(1);
    link.networkChanged(new Set(['192.168.7.3']));
    await say({});
    expect(peer.connections).toHaveLength(2);
    (await peer.connection(1)).holdRequests(true);
    link.networkChanged(new Set(['127.0.0.1']));
    await clock.advance(5_000);
    await say({});
    expect(peer.connections).toHaveLength(3);
  });

  test('a link to a process of this computer is never asked: it may be busy for minutes', async () => {
    await using directory = await temporaryDirectory();
    const streams: ServerHttp2Stream[] = [];
    const arrived = Promise.withResolvers<void>();
    await using peer = await startScriptedPeer({
      answer(stream) {
        streams.push(stream);
        arrived.resolve();
      },
    });
    const path = directory.file('module.sock');
    const { port } = new URL(peer.url);
    await using proxy = createServer((client) => {
      const target = connectSocket(Number(port), '127.0.0.1');
      client
        .on('error', () => {})
        .pipe(target.on('error', () => {}))
        .pipe(client);
    }).listen(path);
    await once(proxy, 'listening');
    for (const way of [
      { baseUrl: 'http://localhost', socketPath: path },
      { baseUrl: peer.url, isLocal: true },
    ]) {
      const clock = new FakeClock();
      await using link = connect({ ...way, timeoutMs: 0, clock });
      const call = link.client(EchoService).say({});
      await arrived.promise;
      const { holdRequests } = await peer.connection(peer.connections.length - 1);
      holdRequests(true);
      await clock.advance(300_000);
      holdRequests(false);
      await expect.poll(() => streams.length).toBeGreaterThan(0);
      for (const stream of streams.splice(0)) answerEmpty(stream);
      expect(await call).toMatchObject({ value: '' });
    }
  });

  test('a tunnel that was called once is asked while it is idle, too, and ends without an answer', async () => {
    const { createServer: createHttp2Server } = await import('node:http2');
    const [near, far] = duplexPair();
    const server = createHttp2Server().on('stream', answerEmpty);
    server.emit('connection', far);
    const clock = new FakeClock();
    await using link = connectOver({ stream: near, peerName: 'the machine', userAgent: 'test', clock });
    await link.client(EchoService).say({});
    await clock.advance(60_000);
    expect(near.destroyed).toBe(false);
    far.pause();
    far.on('error', () => {});
    far.removeAllListeners('data');
    const ended = once(near, 'close');
    await clock.advance(15_000);
    await clock.advance(5_000);
    await ended;
    await expect(link.client(EchoService).say({})).rejects.toMatchObject(lostCall);
  });
});

describe('a connection that is lost during a call', () => {
  async function* forever(): AsyncGenerator<{ value: string }> {
    for (;;) {
      yield { value: 'x' };
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  const losses = {
    ends: ({ socket }) => socket.end(),
    'is reset': ({ socket }) => socket.resetAndDestroy(),
    'is destroyed': ({ socket }) => socket.destroy(),
    'sends GOAWAY with an error': ({ session }) => session.goaway(constants.NGHTTP2_INTERNAL_ERROR),
    'sends garbage': ({ socket }) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
  } satisfies Record<
    string,
    (connection: Awaited<ReturnType<Awaited<ReturnType<typeof startScriptedPeer>>['connection']>>) => void
  >;

  test.each(Object.entries(losses))(
    'is UNAVAILABLE for calls of every kind, not CANCELLED: the peer %s',
    async (_what, lose) => {
      let arrived = 0;
      await using peer = await startScriptedPeer({
        answer(stream) {
          arrived++;
          stream.resume();
        },
      });
      await using link = connect({ baseUrl: peer.url, timeoutMs: 0 });
      const echo = link.client(EchoService);
      const first = async (answers: AsyncIterable<unknown>): Promise<void> => {
        for await (const _ of answers) return;
      };
      const calls = [echo.say({}), echo.join(forever()), first(echo.split({})), first(echo.chat(forever()))];
      await expect.poll(() => arrived).toBe(calls.length);
      lose(await peer.connection(0));
      for (const call of await Promise.allSettled(calls))
        expect(call).toMatchObject({ status: 'rejected', reason: { ...lostCall, cause: expect.any(CallCutOff) } });
    },
  );

  test('so are calls when their own link is closed; only callers cancel', async () => {
    const arrived = Promise.withResolvers<void>();
    await using peer = await startScriptedPeer({ answer: () => arrived.resolve() });
    const link = connect({ baseUrl: peer.url, timeoutMs: 0 });
    const call = link.client(EchoService).say({});
    await arrived.promise;
    const refused = expect(call).rejects.toMatchObject(lostCall);
    await link[Symbol.asyncDispose]();
    await refused;
  });
});

test('GOAWAY drains: the call in progress gets its answer, the next one a new connection', async () => {
  const arrived = Promise.withResolvers<ServerHttp2Stream>();
  let isFirst = true;
  await using peer = await startScriptedPeer({
    answer(stream) {
      if (!isFirst) return answerEmpty(stream);
      isFirst = false;
      arrived.resolve(stream);
    },
  });
  await using link = connect({ baseUrl: peer.url });
  const call = link.client(EchoService).say({});
  const stream = await arrived.promise;
  const { session, socket } = await peer.connection(0);
  session.close();
  await expect
    .poll(async () => {
      await link.client(EchoService).say({});
      return peer.connections.length;
    })
    .toBe(2);
  answerEmpty(stream);
  expect(await call).toMatchObject({ value: '' });
  if (!socket.destroyed) await once(socket, 'close');
});

test('a connection with as many calls as the peer allows is left to them; the next call gets another one', async () => {
  const held: ServerHttp2Stream[] = [];
  let isHolding = false;
  await using peer = await startScriptedPeer({
    answer: (stream) => (isHolding && held.length < 100 ? held.push(stream) : answerEmpty(stream)),
  });
  await using link = connect({ baseUrl: peer.url });
  const { say } = link.client(EchoService);
  await say({});
  const first = await peer.connection(0);
  await new Promise<void>((resolve) => first.session.settings({ maxConcurrentStreams: 100 }, () => resolve()));
  isHolding = true;
  const calls = Array.from({ length: 100 }, () => say({}));
  await expect.poll(() => held.length).toBe(100);
  await say({});
  expect(peer.connections).toHaveLength(2);
  const closed = once(first.socket, 'close');
  for (const stream of held) answerEmpty(stream);
  await Promise.all(calls);
  await closed;
});

test('a connection that is not established within 10 s is given up', async () => {
  // TLS that never answers.
  await using server = createServer((socket) => void socket.on('error', () => {}).resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clock = new FakeClock();
  await using link = connect({
    baseUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ timeoutMs: 0, clock },
  });
  const connected = once(server, 'connection');
  const call = link.client(EchoService).say({});
  call.catch(() => {});
  await connected;
  await clock.advance(10_000);
  await expect(call).rejects.toMatchObject(lostCall);
  expect(clock.waiting).toBe(0);
});

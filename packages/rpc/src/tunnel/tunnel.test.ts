import { type Clock, silentLog, systemClock } from '@platform/base';
import { Health } from '@platform/proto/grpc/health/v1/health';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { preface } from '../../test/cut-requests.ts';
import { EchoService } from '../../test/echo-service.ts';
import { type Handlers, serve } from '../core/binding.ts';
import { connectOver, type Link } from '../link/connect.ts';
import { type ByteStream, byteStreamOver, maxPieceBytes } from './byte-stream.ts';
import { createTunnelServer, type TunnelServer } from './tunnel-server.ts';

interface Tunnel extends AsyncDisposable {
  readonly tunnelServer: TunnelServer<string>;
  readonly link: Link;
  readonly client: ByteStream;
  readonly server: ByteStream;
  /** Sizes of the pieces that went to the server. */
  readonly pieces: number[];
}

/** Two ends whose bytes go through async iterables, as through the messages of a stream. */
function openTunnel(handlers: Handlers<typeof EchoService, string>, clock?: Clock): Tunnel {
  const pieces: number[] = [];
  const feed = Promise.withResolvers<AsyncIterable<Uint8Array>>();
  async function* later(): AsyncGenerator<Uint8Array, void> {
    for await (const bytes of await feed.promise) {
      pieces.push(bytes.length);
      yield bytes;
    }
  }
  const server = byteStreamOver(later());
  const client = byteStreamOver(server.outgoing);
  feed.resolve(client.outgoing);
  const tunnelServer = createTunnelServer<string>({
    services: [serve<typeof EchoService, string>(EchoService, handlers)],
    authenticate: async ({ metadata }) => metadata.get('platform-caller') ?? '',
    clock: systemClock,
    log: silentLog,
  });
  void tunnelServer.serve(server.duplex);
  const link = connectOver({
    stream: client.duplex,
    peerName: 'the far end',
    userAgent: 'test',
    ...(clock && { clock }),
  });
  return {
    ...{ link, client, server, pieces, tunnelServer },
    async [Symbol.asyncDispose]() {
      await link[Symbol.asyncDispose]();
      await tunnelServer[Symbol.asyncDispose]();
    },
  };
}

async function* each<T>(...values: readonly T[]): AsyncGenerator<T, void> {
  yield* values;
}

test('calls of every kind pass through a tunnel, with headers, deadlines and errors', async () => {
  await using tunnel = openTunnel({
    say: ({ value }, { principal, deadline }) => ({ value: `${principal}: ${value} ${deadline === undefined}` }),
    async join(requests) {
      const words: string[] = [];
      for await (const { value } of requests) words.push(value);
      return { value: words.join(' ') };
    },
    async *split({ value }) {
      for (const word of value.split(' ')) yield { value: word };
    },
    async *chat(requests) {
      for await (const { value } of requests) yield { value: value.toUpperCase() };
    },
  });
  const echo = tunnel.link.client(EchoService);
  const headers = { 'platform-caller': 'alice' };
  expect((await echo.say({ value: 'hi' }, { headers })).value).toBe('alice: hi true');
  expect((await echo.say({ value: 'hi' }, { headers, timeoutMs: 60_000 })).value).toBe('alice: hi false');
  expect((await echo.join(each({ value: 'a' }, { value: 'b' }))).value).toBe('a b');
  const parts: string[] = [];
  for await (const { value } of echo.split({ value: 'x y z' })) parts.push(value);
  for await (const { value } of echo.chat(each({ value: 'p' }, { value: 'q' }))) parts.push(value);
  expect(parts).toEqual(['x', 'y', 'z', 'P', 'Q']);
});

test('services added later are served and described until others replace them', async () => {
  await using tunnel = openTunnel({});
  const health = tunnel.link.client(Health);
  const added = { ...EchoService, typeName: 'acme.v1.Later' };
  const service = added.typeName;
  await expect(health.check({ service })).rejects.toMatchObject({ code: 'not_found' });
  const methods = EchoService.methods.map((method) => ({ ...method, parent: added }));
  tunnel.tunnelServer.setAdded([serve<typeof EchoService, string>({ ...added, methods }, {})]);
  expect((await health.check({ service })).status).toBe(1);
  tunnel.tunnelServer.setAdded([]);
  await expect(health.check({ service })).rejects.toMatchObject({ code: 'not_found' });
});

test('a large message travels in bounded pieces, and an answer that is not read delays no other call', async () => {
  const large = 'x'.repeat(3 * 1024 * 1024);
  await using tunnel = openTunnel({
    say: ({ value }) => ({ value: String(value.length) }),
    async *split() {
      for (;;) yield { value: large };
    },
  });
  const echo = tunnel.link.client(EchoService);
  const unread = echo.split({ value: '' })[Symbol.asyncIterator]();
  await unread.next();
  expect((await echo.say({ value: large })).value).toBe(String(large.length));
  expect(Math.max(...tunnel.pieces)).toBeLessThanOrEqual(maxPieceBytes);
  expect((await echo.say({ value: 'still' })).value).toBe('5');
  await unread.return?.();
});

test('a call that its client abandons, or whose connection breaks, is canceled at the server', async () => {
  const started = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const canceled = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using tunnel = openTunnel({
    async say({ value }, { signal }) {
      signal.addEventListener('abort', () => canceled[Number(value)]?.resolve());
      started[Number(value)]?.resolve();
      await new Promise(() => {});
      return {};
    },
  });
  const echo = tunnel.link.client(EchoService);
  const leave = new AbortController();
  const first = echo.say({ value: '0' }, { signal: leave.signal }).catch((caught: unknown) => caught);
  await started[0]?.promise;
  leave.abort();
  await canceled[0]?.promise;
  expect(await first).toMatchObject({ code: 'canceled' });

  const second = echo.say({ value: '1' }).catch((caught: unknown) => caught);
  await started[1]?.promise;
  tunnel.client.duplex.destroy();
  await canceled[1]?.promise;
  expect(await second).toBeInstanceOf(Error);
  await expect(echo.say({ value: '0' })).rejects.toMatchObject({ code: 'unavailable' });
});

test('a link that ends during a call leaves no timer that throws: an uncaught error would end the process', async () => {
  const asked = Promise.withResolvers<void>();
  const hang = (): Promise<never> => {
    asked.resolve();
    return new Promise(() => {});
  };
  const clock = new FakeClock();
  await using tunnel = openTunnel({ say: hang }, clock);
  const call = tunnel.link.client(EchoService).say({});
  await asked.promise;
  tunnel.client.duplex.destroy();
  const uncaught: unknown[] = [];
  const note = (caught: unknown): void => void uncaught.push(caught);
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException').on('uncaughtException', note);
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException');
    for (const other of others) process.on('uncaughtException', other);
  });
  await expect(call).rejects.toMatchObject({ code: 'unavailable' });
  await tunnel.link[Symbol.asyncDispose]();
  await clock.advance(60_000);
  expect(uncaught).toEqual([]);
  expect(clock.waiting).toBe(0);
});

test('a far end that floods PINGs and does not read their answers loses its tunnel', async () => {
  const tunnelServer = createTunnelServer<string>({
    ...{ services: [], authenticate: async () => '', clock: systemClock, log: silentLog },
  });
  const pings = Buffer.alloc(64 * 17, Buffer.concat([Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0]), Buffer.alloc(8)]));
  const mostBytes = 12_000_000;
  let sent = 0;
  async function* flood(): AsyncGenerator<Uint8Array, void> {
    yield preface;
    for (; sent < mostBytes; sent += pings.length) yield pings;
  }
  await tunnelServer.serve(byteStreamOver(flood()).duplex);
  expect(sent).toBeLessThan(mostBytes);
  await tunnelServer[Symbol.asyncDispose]();
});

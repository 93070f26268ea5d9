/**
 * How long remote control takes to return once the network is whole, from the worst state in which each kind of failure can leave it: the
 * table of ADR-0066, on a virtual clock. All sockets are of this process, so turns of its event loop carry what they carry.
 */
import { once } from 'node:events';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import { PlatformError, silentLog } from '@platform/base';
import { type OpenLinkRequest, RelayService } from '@platform/proto/platform/relay/v1/relay';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { connect } from '@platform/rpc/client';
import { createRpcServer, type Handlers, serve } from '@platform/rpc/server';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { CloudReach } from './cloud-reach.ts';
import { relayLink } from './relay-link.ts';

type OpenLink = NonNullable<Handlers<typeof RelayService, string>['openLink']>;
type Direction = 'requests' | 'answers';

/** From a whole network to calls through the cloud. */
const boundMs = 25_000;
/** TCP, TLS, sign-in and the opening of the link on a slow line. */
const handshakeMs = 2_500;
const stepMs = 100;

/** Passes bytes on; connections that it breaks stay open and pass nothing more. */
interface Network extends AsyncDisposable {
  readonly url: string;
  break(directions: readonly Direction[]): void;
  /** Another server gets new connections. */
  divert(port: number | undefined): void;
}

async function startNetwork(port: number): Promise<Network> {
  const broken = new Map<Socket, Set<Direction>>();
  let target = port;
  const server = createServer((machine) => {
    const cloud = connectSocket(target, '127.0.0.1');
    const lost = new Set<Direction>();
    broken.set(machine, lost).set(cloud, lost);
    const pass = (from: Socket, to: Socket, direction: Direction): void => {
      from.setNoDelay().on('error', () => {});
      from.on('data', (bytes) => void (lost.has(direction) || to.write(bytes)));
      from.on('close', () => void (lost.has(direction) || to.destroy()));
    };
    pass(machine, cloud, 'requests');
    pass(cloud, machine, 'answers');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    break(directions) {
      for (const lost of broken.values()) for (const each of directions) lost.add(each);
    },
    divert(other) {
      target = other ?? port;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of broken.keys()) socket.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}

interface World extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly network: Network;
  /** Lets this much time pass, or less if it returns true before. @returns the ms that passed */
  pass(ms: number, isOver?: () => boolean): Promise<number>;
  /** Links that were opened, as the machine knows. */
  readonly opened: number;
}

interface WorldOptions {
  readonly openLink: (world: World) => OpenLink;
  /** Default: the link needs no token. */
  readonly signIn?: () => Promise<string>;
}

async function startWorld({ openLink, signIn }: WorldOptions): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const clock = new FakeClock();
  let opened = 0;
  const server = createRpcServer<string>({
    services: [
      serve<typeof RelayService, string>(RelayService, {
        openLink: (requests, call) => openLink(world)(requests, call),
      }),
      serve<typeof AuthService, string>(AuthService, {
        authenticate: async () => ({ accessToken: (await signIn?.()) ?? '' }),
      }),
    ],
    authenticate: async () => 'part',
    open: ['/proto.rpc.v1.AuthService/Authenticate'],
    fallback: (_request, response) => void response.end(),
    log: silentLog,
  });
  stack.defer(() => server.close({ graceMs: 0 }));
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const network = stack.use(await startNetwork(port));
  const credentials = signIn && { credentials: { entity: 'press', type: 'robot-secret', payload: 's' } };
  stack.use(
    relayLink({
      connect: () => connect({ baseUrl: network.url, clock, ...credentials }),
      server: {
        async serve(duplex) {
          duplex.resume().on('error', () => {});
          await once(duplex, 'close');
        },
      },
      ...{ partId: 'press', reach: new CloudReach(clock), clock },
      log: { ...silentLog, info: (message) => void (message.includes('is available') && opened++) },
    }),
  );
  const unwinding = stack.move();
  const world: World = {
    ...{ clock, network },
    async pass(ms, isOver = () => false) {
      const fromMs = clock.monotonic();
      for (;;) {
        for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
        const passedMs = clock.monotonic() - fromMs;
        if (isOver() || passedMs >= ms) return passedMs;
        await clock.advance(stepMs);
      }
    },
    get opened() {
      return opened;
    },
    [Symbol.asyncDispose]: () => unwinding.disposeAsync(),
  };
  return world;
}

async function* heartbeatsOf(requests: AsyncIterable<OpenLinkRequest>): AsyncGenerator<void, void> {
  for await (const { data, partId } of requests) if (data.length === 0 && partId === '') yield;
}

/** Answers each heartbeat. */
async function* answering(requests: AsyncIterable<OpenLinkRequest>): AsyncGenerator<{ data: Uint8Array }, void> {
  yield { data: new Uint8Array() };
  for await (const _ of heartbeatsOf(requests)) yield { data: new Uint8Array() };
}

/** Refuses the first links, so that the waits of the machine are long. */
async function* refusing(): AsyncGenerator<never, void> {
  yield* [];
  throw new PlatformError('unavailable', 'not now');
}

/** Ms from now, when the network is whole, until the machine has another link. */
function recovery(world: World): Promise<number> {
  const before = world.opened;
  return world.pass(90_000, () => world.opened > before);
}

const refused = 6;

test.each([
  [['requests', 'answers'], 0],
  [['requests', 'answers'], 15_200],
  [['answers'], 15_200],
] as const)(
  'ADR-0066 a link whose connection lost %j after %i ms, after attempts that failed',
  async (directions, openMs) => {
    let attempts = 0;
    await using world = await startWorld({
      openLink: () => (requests) => (++attempts <= refused ? refusing() : answering(requests)),
    });
    await world.pass(60_000, () => world.opened === 1);
    // Just after an answered heartbeat.
    await world.pass(openMs);
    world.network.break(directions);
    expect(await recovery(world)).toBeLessThanOrEqual(boundMs - handshakeMs);
  },
);

test('ADR-0066 a link that only the cloud knows to be broken, which says so after 21 s on the same connection', async () => {
  let attempts = 0;
  await using world = await startWorld({
    openLink: ({ clock }) =>
      async function* (requests) {
        if (++attempts <= refused) yield* refusing();
        yield { data: new Uint8Array() };
        if (attempts > refused + 1) yield* answering(requests);
        // Calls go on reaching the machine.
        for (let second = 0; second < 21; second++) {
          await clock.sleep(1_000);
          yield { data: Uint8Array.of(0) };
        }
        throw new PlatformError('unavailable', 'the machine does not answer');
      },
  });
  await world.pass(60_000, () => world.opened === 1);
  world.network.break(['requests']);
  expect(await recovery(world)).toBeLessThanOrEqual(boundMs - handshakeMs);
});

test.each([0, 1, 2])(
  'ADR-0066 a proxy that lost the cloud, and answers PINGs itself, after %i answered heartbeats',
  async (answered) => {
    let attempts = 0;
    let heard = 0;
    await using world = await startWorld({
      openLink: () =>
        async function* (requests) {
          if (++attempts > 1) return yield* answering(requests);
          yield { data: new Uint8Array() };
          for await (const _ of heartbeatsOf(requests)) if (heard++ < answered) yield { data: new Uint8Array() };
        },
    });
    await world.pass(60_000, () => world.opened === 1);
    await world.pass(60_000, () => heard >= answered);
    expect(await recovery(world)).toBeLessThanOrEqual(boundMs - handshakeMs);
  },
);

test('ADR-0066 a proxy that answers instead of the cloud, as while it is replaced: that is no cloud without remote control', async () => {
  let asked = 0;
  await using portal = createHttp2Server()
    .on('stream', (stream) => {
      asked++;
      stream.respond({ ':status': 404, 'content-type': 'text/html' });
      stream.end('<h1>Not found</h1>');
    })
    .listen(0, '127.0.0.1');
  await once(portal, 'listening');
  let links = 0;
  await using world = await startWorld({
    openLink: () =>
      async function* (requests) {
        if (++links > 1) return yield* answering(requests);
        yield { data: new Uint8Array() };
        throw new PlatformError('unavailable', 'the cloud is being replaced');
      },
  });
  world.network.divert((portal.address() as AddressInfo).port);
  await world.pass(60_000, () => asked === refused);
  expect(asked).toBe(refused);
  world.network.divert(undefined);
  expect(await recovery(world)).toBeLessThanOrEqual(boundMs - handshakeMs);
});

test('ADR-0066 a sign-in that is never answered, on a connection that is', async () => {
  let signIns = 0;
  await using world = await startWorld({
    openLink: () => answering,
    signIn: () => (++signIns === 1 ? new Promise(() => {}) : Promise.resolve('token')),
  });
  await world.pass(1_000, () => signIns === 1);
  expect(await recovery(world)).toBeLessThanOrEqual(boundMs - handshakeMs);
});

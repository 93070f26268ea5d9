import { once } from 'node:events';
import { type Clock, createLog, type Log, PlatformError, silentLog, systemClock } from '@platform/base';
import { type OpenLinkRequest, RelayService } from '@platform/proto/platform/relay/v1/relay';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { byteStreamOver, connect, connectOver } from '@platform/rpc/client';
import { createRpcServer, createTunnelServer, type Handlers, serve } from '@platform/rpc/server';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { relayedPrincipal } from '../serve/relayed-principal.ts';
import { CloudReach } from './cloud-reach.ts';
import { relayLink } from './relay-link.ts';

type OpenLink = NonNullable<Handlers<typeof RelayService, string>['openLink']>;

interface Rig extends AsyncDisposable {
  /** Waits of the link between attempts, in ms. */
  readonly waits: number[];
}

async function startCloud(openLink: OpenLink): Promise<AsyncDisposable & { readonly baseUrl: string }> {
  const cloud = createRpcServer<string>({
    services: [serve<typeof RelayService, string>(RelayService, { openLink })],
    authenticate: async () => 'part',
    open: [],
    fallback: (_request, response) => void response.end(),
    log: silentLog,
  });
  const { port } = await cloud.listen({ host: '127.0.0.1', port: 0 });
  return { baseUrl: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => cloud.close({ graceMs: 0 }) };
}

/** A link to a cloud with these answers; waits end at once. */
async function rig(openLink: OpenLink, onWait: () => Promise<void> | void, log: Log = silentLog): Promise<Rig> {
  const cloud = await startCloud(openLink);
  const waits: number[] = [];
  const clock: Clock = {
    ...systemClock,
    async sleep(ms, signal) {
      waits.push(ms);
      await onWait();
      signal?.throwIfAborted();
    },
  };
  const server = createTunnelServer({
    services: [
      serve<typeof RobotService, { entity: string }>(RobotService, {
        getVersion: (_request, { principal }) => ({ version: principal.entity }),
      }),
    ],
    authenticate: async (call) => relayedPrincipal(call, silentLog),
    ...{ clock: systemClock, log: silentLog },
  });
  const link = relayLink({
    connect: () => connect({ baseUrl: cloud.baseUrl }),
    ...{ partId: 'press', server, reach: new CloudReach(clock), clock, log },
  });
  return {
    waits,
    async [Symbol.asyncDispose]() {
      await link[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await cloud[Symbol.asyncDispose]();
    },
  };
}

async function* dataOf(messages: AsyncIterator<OpenLinkRequest>): AsyncGenerator<Uint8Array, void> {
  for (let next = await messages.next(); next.done !== true; next = await messages.next()) yield next.value.data;
}

test('the cloud calls the machine over the link that the machine opened, on behalf of its caller', async () => {
  const called = Promise.withResolvers<string>();
  await using _rig = await rig(
    async function* (requests) {
      const messages = requests[Symbol.asyncIterator]();
      expect((await messages.next()).value?.partId).toBe('press');
      const { duplex, outgoing } = byteStreamOver(dataOf(messages));
      yield { data: new Uint8Array() };
      await using link = connectOver({ stream: duplex, peerName: 'the machine', userAgent: 'test' });
      const headers = { 'platform-caller': 'person:ada' };
      const version = link.client(RobotService).getVersion({}, { headers });
      called.resolve(version.then((answer) => answer.version));
      for await (const data of outgoing) yield { data };
    },
    () => {},
  );
  expect(await called.promise).toBe('cloud:person:ada');
});

test('a broken link is reopened after increasing delays of at most 12 s, and rarely if the cloud has no relay', async () => {
  const enough = Promise.withResolvers<void>();
  let attempts = 0;
  await using held = await rig(
    () => {
      attempts++;
      throw new PlatformError(attempts > 12 ? 'unimplemented' : 'aborted', 'not now');
    },
    async () => {
      if (attempts < 13) return;
      enough.resolve();
      await new Promise((resolve) => setImmediate(resolve));
    },
  );
  await enough.promise;
  const waits = held.waits.slice(0, 13);
  expect(waits[0]).toBeLessThanOrEqual(1_200);
  expect(waits[3]).toBeGreaterThan(5_000);
  expect(Math.max(...waits.slice(0, 12))).toBeLessThanOrEqual(12_000);
  expect(waits[12]).toBe(600_000);
});

test('a refusal that repeats at each attempt is warned of once, another one again', async () => {
  const enough = Promise.withResolvers<void>();
  const warnings: unknown[] = [];
  let attempts = 0;
  await using _rig = await rig(
    () => {
      attempts++;
      throw new PlatformError('permission_denied', attempts <= 3 ? 'deleted' : 'rotated');
    },
    () => {
      if (attempts >= 6) enough.resolve();
    },
    createLog((level, _logger, _message, fields) => void (level === 'warn' && warnings.push(fields?.['error']))),
  );
  await enough.promise;
  expect(warnings).toEqual([expect.stringContaining('deleted'), expect.stringContaining('rotated')]);
});

test('D17 the machine sends a heartbeat after each silence of 15 s, and reopens a link on which the cloud no longer answers them', async () => {
  const clock = new FakeClock();
  let [links, answers, isDeaf] = [0, 0, false];
  await using cloud = await startCloud(async function* (requests) {
    links++;
    const messages = requests[Symbol.asyncIterator]();
    await messages.next();
    yield { data: new Uint8Array() };
    for await (const data of dataOf(messages)) {
      if (data.length > 0 || isDeaf) continue;
      yield { data };
      // Arrives after the answer.
      yield { data: Uint8Array.of(1) };
    }
  });
  await using _link = relayLink({
    connect: () => connect({ baseUrl: cloud.baseUrl }),
    server: {
      async serve(duplex) {
        duplex.on('data', () => answers++).on('error', () => {});
        await once(duplex, 'close');
      },
    },
    ...{ partId: 'press', reach: new CloudReach(clock), clock, log: silentLog },
  });
  await expect.poll(() => links).toBe(1);
  await expect.poll(() => answers).toBe(1);
  for (let count = 2; count <= 10; count++) {
    await clock.advance(15_000);
    await expect.poll(() => answers).toBe(count);
  }
  expect(links).toBe(1);
  isDeaf = true;
  await expect
    .poll(async () => {
      await clock.advance(1_000);
      return links;
    })
    .toBe(2);
});

test('D17 the machine sends a heartbeat every 20 s while the cloud sends other messages', async () => {
  const clock = new FakeClock();
  let beats = 0;
  await using cloud = await startCloud(async function* (requests) {
    const messages = requests[Symbol.asyncIterator]();
    await messages.next();
    const count = async (): Promise<void> => {
      for await (const data of dataOf(messages)) if (data.length === 0) beats++;
    };
    count().catch(() => {});
    yield { data: new Uint8Array() };
    for (;;) {
      await clock.sleep(1_000);
      yield { data: Uint8Array.of(1) };
    }
  });
  await using _link = relayLink({
    connect: () => connect({ baseUrl: cloud.baseUrl }),
    server: {
      async serve(duplex) {
        duplex.on('error', () => {}).resume();
        await once(duplex, 'close');
      },
    },
    ...{ partId: 'press', reach: new CloudReach(clock), clock, log: silentLog },
  });
  await expect.poll(() => beats).toBe(1);
  for (let second = 0; second < 65; second++) {
    await clock.advance(1_000);
    for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => beats).toBe(4);
});

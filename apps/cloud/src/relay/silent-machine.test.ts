/** D17 over a real connection, through a proxy that keeps it open when the machine is gone; on a virtual clock. */
import { once } from 'node:events';
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import { silentLog } from '@platform/base';
import { RelayService } from '@platform/proto/platform/relay/v1/relay';
import { byteStreamOver, connect } from '@platform/rpc/client';
import { createRpcServer } from '@platform/rpc/server';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { createAuthenticateCall } from '../edge/authenticate-call.ts';
import type { Transition } from '../machines/presence/presence.ts';
import { openMachines } from '../machines/testing/open-machines.ts';
import { createLinks } from './links.ts';
import { relayBinding } from './relay-rpc.ts';

interface Proxy extends AsyncDisposable {
  readonly url: string;
  /** Drops what machines send, and keeps every connection. */
  isHolding: boolean;
}

async function startProxy(targetPort: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connectSocket(targetPort, '127.0.0.1');
    for (const socket of [client, target]) sockets.add(socket.setNoDelay().on('error', () => {}));
    client.on('data', (bytes) => {
      if (!proxy.isHolding) target.write(bytes);
    });
    target.on('data', (bytes) => client.write(bytes));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: Proxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isHolding: false,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
  return proxy;
}

test.each(['the part itself', 'a key of its machine'])(
  'D17 %s is online while heartbeats arrive, and offline within 60 s after the last byte, although a proxy holds the link',
  async (who) => {
    const clock = new FakeClock();
    const transitions: Transition[] = [];
    const { machines, partId, machineId, itself, key } = await openMachines({
      clock,
      onTransitions: async (all) => ({ record: async () => {}, committed: () => void transitions.push(...all) }),
    });
    const principal: Principal = who === 'the part itself' ? itself : key('operator', { robotId: machineId });
    const { presence } = machines;
    const services = [
      relayBinding({
        ...{ links: createLinks(clock), clock, directCalls: {}, recheck: async () => principal },
        ...{ authorizeAnswer: machines.authorizeAnswer, heard: machines.sawOnLink },
      }),
    ];
    const server = createRpcServer<Principal>({
      services,
      authenticate: createAuthenticateCall({
        ...{ presence, competing: machines.competing, watchdog: { admit: () => {} } },
        authenticator: { principalOf: async () => principal },
        browserSession: { tokenOf: () => undefined },
      }),
      ...{ open: [], fallback: (_request, response) => void response.end(), log: silentLog },
    });
    await using _server = { [Symbol.asyncDispose]: () => server.close({ graceMs: 0 }) };
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
    await using proxy = await startProxy(port);
    presence.start();
    await using _presence = presence;

    await using link = connect({ baseUrl: proxy.url });
    const { duplex, outgoing, beat } = byteStreamOver(
      (async function* () {
        for await (const { data } of link.client(RelayService).openLink(messages(), { timeoutMs: 0 })) yield data;
      })(),
    );
    duplex.on('error', () => {});
    async function* messages() {
      yield { partId };
      for await (const data of outgoing) yield { data };
    }
    await expect.poll(() => transitions.map(({ kind }) => kind)).toEqual(['online']);
    for (let minute = 0; minute < 3; minute++) {
      for (let quarter = 0; quarter < 4; quarter++) {
        const before = presence.of(partId).lastSeenMs ?? 0;
        await clock.advance(15_000);
        beat();
        await expect.poll(() => presence.of(partId).lastSeenMs ?? 0).toBeGreaterThan(before);
      }
      expect(presence.of(partId).state).toBe('online');
    }
    proxy.isHolding = true;
    const lastMs = presence.of(partId).lastSeenMs ?? 0;
    beat();
    for (let second = 0; second < 59; second++) await clock.advance(1_000);
    expect(presence.of(partId).state).toBe('online');
    await expect
      .poll(async () => {
        await clock.advance(1_000);
        return transitions.map(({ kind }) => kind);
      })
      .toEqual(['online', 'offline']);
    expect(presence.of(partId)).toMatchObject({ state: 'offline', lastSeenMs: lastMs });
  },
);

/** Servers whose clients send anything but calls. */
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { silentLog, systemClock } from '@platform/base';
import { hostileClients, sendAsClient, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { eachKind } from '../../test/each-kind.ts';
import { EchoService } from '../../test/echo-service.ts';
import { iterableTunnel } from '../../test/iterable-tunnel.ts';
import { serve } from '../core/binding.ts';
import { connect, connectOver, type Link } from '../link/connect.ts';
import { createTunnelServer } from '../tunnel/tunnel-server.ts';
import { createRpcServer } from './rpc-server.ts';

const source = hostileClients('/platform.test.v1.EchoService/Say');
/** `npm run fault -- hostile` says how many. */
const count = Number(process.env['FAULT_GARBAGE'] ?? source.known + 150);
const nameOf = (kind: number): string => source.kind(kind).name;

const options = {
  services: [serve<typeof EchoService, string>(EchoService, { say: ({ value }) => ({ value }) })],
  authenticate: async () => 'caller',
  ...{ clock: systemClock, log: silentLog },
};

/** @returns what was wrong with the answer that somebody else gets */
async function answerTo(link: Link, kind: number): Promise<string> {
  const { value } = await link.client(EchoService).say({ value: `${kind}` });
  return value === `${kind}` ? '' : `another was answered ${value}`;
}

test.each(['a port', 'a module socket'])(
  'whatever the clients of %s send, others are answered, and no connection is left',
  async (where) => {
    await using directory = await temporaryDirectory();
    const socketPath = where === 'a port' ? undefined : directory.file('parent.sock');
    const server = createRpcServer({ ...options, open: [], fallback: (_request, response) => void response.end() });
    if (socketPath !== undefined) await server.listenOnSocket(socketPath);
    const { port } = socketPath === undefined ? await server.listen({ host: '127.0.0.1', port: 0 }) : { port: 0 };
    await using link = connect({ baseUrl: `http://127.0.0.1:${port}`, socketPath });
    const faults = await eachKind(count, nameOf, async (kind) => {
      const socket = socketPath === undefined ? connectSocket(port, '127.0.0.1') : connectSocket(socketPath);
      await sendAsClient(socket, source.kind(kind));
      const fault = await answerTo(link, kind);
      if (!socket.destroyed) await once(socket.destroy(), 'close');
      return fault;
    });
    expect(faults).toEqual([]);
    await link[Symbol.asyncDispose]();
    // Resolves once no connection is left, long before it would cut them.
    await server.close({ graceMs: 2 ** 31 - 1 });
  },
);

test('whatever the far end of a tunnel sends, other tunnels are answered, and its own ends', async () => {
  await using server = createTunnelServer(options);
  const honest = iterableTunnel();
  const served = server.serve(honest.near);
  const link = connectOver({ stream: honest.far, peerName: 'the machine', userAgent: 'test' });
  const faults = await eachKind(count, nameOf, async (kind) => {
    const { near, far } = iterableTunnel();
    const over = server.serve(near);
    await sendAsClient(far, source.kind(kind));
    const fault = await answerTo(link, kind);
    far.destroy();
    await over;
    return fault;
  });
  expect(faults).toEqual([]);
  await link[Symbol.asyncDispose]();
  await served;
});

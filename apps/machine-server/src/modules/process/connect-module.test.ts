import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { silentLog } from '@platform/base';
import { ModuleService } from '@platform/proto/platform/module/v1/module';
import { createRpcServer, serve } from '@platform/rpc/server';
import { FakeClock, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { connectModule } from './connect-module.ts';

test.each([
  ['over its socket', false],
  ['with tcp_mode', true],
])(
  'a module that does nothing for five minutes, not even answer PING, keeps its connection and answers %s',
  async (_way, tcpMode) => {
    const arrived = Promise.withResolvers<void>();
    const module = createRpcServer({
      services: [
        serve<typeof ModuleService>(ModuleService, {
          async addResource() {
            arrived.resolve();
            await over.promise;
            return {};
          },
        }),
      ],
      authenticate: async () => 'parent',
      open: [],
      fallback: (_request, response) => void response.end(),
      log: silentLog,
    });
    await using _module = { [Symbol.asyncDispose]: () => module.close({ graceMs: 0 }) };
    const over = Promise.withResolvers<void>();
    const { port } = await module.listen({ host: '127.0.0.1', port: 0 });
    // The process reads nothing while it is held.
    const clients: Socket[] = [];
    await using front = createServer((client) => {
      clients.push(client);
      const served = connect(port, '127.0.0.1');
      client.on('error', () => {}).pipe(served.on('error', () => {}));
      served.pipe(client);
    });
    using _clients = {
      [Symbol.dispose]() {
        for (const client of clients) client.destroy();
      },
    };
    await using directory = await temporaryDirectory();
    const socket = directory.file('module.sock');
    front.listen(tcpMode ? { host: '127.0.0.1', port: 0 } : { path: socket });
    await once(front, 'listening');
    const address = tcpMode ? `127.0.0.1:${(front.address() as AddressInfo).port}` : socket;
    const clock = new FakeClock();
    await using link = connectModule({ name: 'demo', tcpMode }, address, clock);
    const added = link.client(ModuleService).addResource({}, { timeoutMs: 0 });
    added.catch(() => {});
    await arrived.promise;
    for (const client of clients) client.unpipe().pause();
    await clock.advance(300_000);
    over.resolve();
    await expect(added).resolves.toBeDefined();
    expect(clients).toHaveLength(1);
  },
);

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createFaultProxy, type FaultProxy } from './fault-proxy.ts';

interface Echo extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly received: () => number;
}

/** Echoes each byte. */
async function startEcho(): Promise<Echo> {
  let received = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received += chunk.length;
      socket.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    received: () => received,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Sends ten bytes and returns what came back until the connection ended, or until ten bytes had arrived. */
async function exchange(proxy: FaultProxy): Promise<{ text: string; ended: 'whole' | 'end' | 'reset' }> {
  const socket = connect({ host: proxy.host, port: proxy.port });
  let text = '';
  return new Promise((resolve) => {
    const finish = (ended: 'whole' | 'end' | 'reset'): void => {
      socket.destroy();
      resolve({ text, ended });
    };
    socket.on('error', () => finish('reset'));
    socket.on('end', () => finish('end'));
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (text.length === 10) finish('whole');
    });
    socket.write('0123456789');
  });
}

test('each fault has the described effect, and the proxy works normally afterwards', async () => {
  await using echo = await startEcho();
  await using proxy = await createFaultProxy(echo);
  expect(await exchange(proxy)).toEqual({ text: '0123456789', ended: 'whole' });

  proxy.setFault({ kind: 'cutResponse', afterBytes: 0 });
  expect(await exchange(proxy)).toEqual({ text: '', ended: 'reset' });
  expect(echo.received()).toBe(20);
  expect(proxy.responseBytes).toBe(10);

  proxy.setFault({ kind: 'halfClose', afterBytes: 4 });
  expect(await exchange(proxy)).toEqual({ text: '0123', ended: 'end' });

  proxy.setFault({ kind: 'refuse' });
  expect(await exchange(proxy)).toEqual({ text: '', ended: 'reset' });
  expect(echo.received()).toBe(30);

  proxy.setFault({ kind: 'delay', delayMs: 20 });
  expect(await exchange(proxy)).toEqual({ text: '0123456789', ended: 'whole' });

  proxy.setFault({ kind: 'blackhole' });
  const swallowed = exchange(proxy);
  while (proxy.connections < 6) await new Promise((resolve) => setImmediate(resolve));
  proxy.dropAll();
  expect(await swallowed).toEqual({ text: '', ended: 'reset' });
  expect(echo.received()).toBe(40);

  proxy.setFault({ kind: 'none' });
  expect(await exchange(proxy)).toEqual({ text: '0123456789', ended: 'whole' });
});

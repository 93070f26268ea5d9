import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { FakeClock, selfSigned } from '@platform/testkit';
import { expect, test } from 'vitest';
import { EchoService } from '../../../test/echo-service.ts';
import { startScriptedPeer } from '../../../test/scripted-peer.ts';
import { connect } from '../connect.ts';
import { connectionFault } from './connection-fault.ts';

const tls = await selfSigned();

async function faultAt(url: string): Promise<unknown> {
  await using link = connect({ baseUrl: url });
  const failure = await link
    .client(EchoService)
    .say({})
    .catch((caught: unknown) => caught);
  return connectionFault(failure, url)?.kind;
}

test.each<[string, () => Server]>([
  ['a web server', () => createHttpServer((_request, response) => response.end('hello'))],
  ['a server of another protocol', () => createServer((socket) => socket.end('SSH-2.0-OpenSSH_10\r\n'))],
  ['a server that closes without a word', () => createServer((socket) => socket.end())],
  ['a server that expects TLS', () => createTlsServer(tls).on('tlsClientError', (_error, socket) => socket.destroy())],
])('an address in plaintext that leads to %s is not the one of a cloud', async (_what, create) => {
  const server = create();
  server.on('connection', (socket) => socket.on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    expect(await faultAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).toBe('notCloud');
  } finally {
    server.close();
  }
});

test('a cloud whose connection breaks, or that does not run, is still one', async () => {
  const peer = await startScriptedPeer({ answer: (stream) => stream.session?.destroy() });
  expect(await faultAt(peer.url)).toBeUndefined();
  await peer[Symbol.asyncDispose]();
  expect(await faultAt(peer.url)).toBeUndefined();
});

test('a cloud that hangs, and sends nothing, is still one', async () => {
  const accepted = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    accepted.resolve();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clock = new FakeClock();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  {
    await using link = connect({ baseUrl: url, clock });
    let failure: unknown;
    link
      .client(EchoService)
      .say({})
      .catch((caught: unknown) => {
        failure = caught;
      });
    await accepted.promise;
    while (failure === undefined) await clock.advance(1_000);
    expect(String(failure)).toContain('PING');
    expect(connectionFault(failure, url)).toBeUndefined();
  }
  server.close();
});

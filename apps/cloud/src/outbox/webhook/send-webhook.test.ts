import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { createAuthority, issueCertificate } from '../../instance/authority.ts';
import type { SendResult } from '../channel.ts';
import { noLoopback } from '../testing/no-loopback.ts';
import { createWebhookSender } from './send-webhook.ts';

/** A server that handles each connection, numbered from 1, as the test specifies; `port` is its own. */
async function listen(
  onConnection: (socket: Socket, count: number) => void,
): Promise<{ server: Server; port: number; connections: () => number }> {
  let count = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket, ++count);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port, connections: () => count };
}

/** Its clock is stopped, so no answer is late unless the test advances it. */
function senderFor(port: number, clock = new FakeClock()) {
  const policy = {
    ownAddress: () => ({ host: '127.0.0.1', port }),
    privateTargetsAllowed: true,
    privateTargetsSetting: 'SETTING',
    command: 'platform',
    loopback: noLoopback,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  };
  const sender = createWebhookSender({ policy, clock, ownAuthority: () => undefined });
  onTestFinished(() => sender[Symbol.dispose]());
  return (path = '/test-inbox/a', signal = new AbortController().signal): Promise<SendResult> =>
    sender.send(
      {
        url: `http://127.0.0.1:${port}${path}`,
        organizationId: 'o1',
        method: 'POST',
        headers: { 'Content-Length': '2' },
        body: '{}',
      },
      signal,
    );
}

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

test('D23 a connection is kept and reused', async () => {
  const { port, connections } = await listen((socket) => socket.on('data', () => socket.write(ok)));
  const send = senderFor(port);
  for (let n = 0; n < 5; n++) expect(await send()).toMatchObject({ outcome: 'accepted', code: 200, response: 'ok' });
  expect(connections()).toBe(1);
});

test('D23 a kept connection that the target has closed does not use up an attempt', async () => {
  let answered = 0;
  const { port, connections } = await listen((socket, count) => {
    socket.on('data', () => {
      // The first connection answers once; the next request on it is reset.
      if (count === 1 && answered > 0) return socket.resetAndDestroy();
      answered++;
      socket.write(ok);
    });
  });
  const send = senderFor(port);
  await send();
  expect(await send()).toMatchObject({ outcome: 'accepted' });
  expect(connections()).toBe(2);
});

test('D23 a reset, a refused connection and an answer that is not HTTP are retried later', async () => {
  const reset = await listen((socket) => socket.on('data', () => socket.resetAndDestroy()));
  expect(await senderFor(reset.port)()).toMatchObject({
    outcome: 'retryLater',
    error: expect.stringContaining('ECONNRESET'),
  });
  const garbage = await listen((socket) => socket.on('data', () => socket.end('hello\r\n\r\n')));
  expect(await senderFor(garbage.port)()).toMatchObject({
    outcome: 'retryLater',
    error: expect.stringContaining('Parse Error'),
  });
  // A recently freed port may be in use by now; nothing listens on port 1.
  expect(await senderFor(1)()).toMatchObject({
    outcome: 'retryLater',
    error: expect.stringContaining('ECONNREFUSED'),
  });
});

test('D23 an endless answer is cut off, 4 KiB of it are kept, and its status counts', async () => {
  const { port } = await listen((socket) =>
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const more = (): void => {
        while (socket.writable && socket.write(`1000\r\n${'x'.repeat(4096)}\r\n`));
      };
      socket.on('drain', more);
      more();
    }),
  );
  const { outcome, response } = await senderFor(port)();
  expect(outcome).toBe('accepted');
  expect(response).toBe('x'.repeat(4096));
});

test.each([
  ['no answer at all', ''],
  ['a status whose body never ends', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc'],
  ['headers that never end', 'HTTP/1.1 200 OK\r\nX-A: '],
])('D23 %s is a timeout after 15 s in all', async (_what, text) => {
  const clock = new FakeClock();
  const asked = Promise.withResolvers<void>();
  const { port } = await listen((socket) =>
    socket.on('data', () => {
      socket.write(text);
      asked.resolve();
    }),
  );
  const sent = senderFor(port, clock)();
  let done = false;
  void sent.then(() => {
    done = true;
  });
  await asked.promise;
  await clock.advance(14_999);
  expect(done).toBe(false);
  await clock.advance(1);
  expect(await sent).toMatchObject({ outcome: 'retryLater', error: 'no complete answer within 15 s' });
});

test('D23 a name that never resolves also times out', async () => {
  const clock = new FakeClock();
  const policy = {
    ownAddress: () => undefined,
    privateTargetsAllowed: true,
    privateTargetsSetting: 'SETTING',
    command: 'platform',
    loopback: noLoopback,
    resolve: () => new Promise<never>(() => {}),
  };
  using sender = createWebhookSender({ policy, clock, ownAuthority: () => undefined });
  const request = {
    url: 'http://slow.example/',
    organizationId: 'o1',
    method: 'POST',
    headers: {},
    body: '{}',
  } as const;
  const sent = sender.send(request, new AbortController().signal);
  await clock.advance(15_000);
  expect(await sent).toMatchObject({ outcome: 'retryLater', error: 'no complete answer within 15 s' });
});

test('D23 a socket opened for an allowed URL is not used for a refused one', async () => {
  const { port, connections } = await listen((socket) => socket.on('data', () => socket.write(ok)));
  const policy = {
    ownAddress: () => ({ host: 'localhost', port }),
    privateTargetsAllowed: true,
    privateTargetsSetting: 'SETTING',
    command: 'platform',
    loopback: noLoopback,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  };
  using sender = createWebhookSender({ policy, clock: new FakeClock(), ownAuthority: () => undefined });
  const send = (path: string) =>
    sender.send(
      { url: `http://localhost:${port}${path}`, organizationId: 'o1', method: 'GET', headers: {}, body: '' },
      new AbortController().signal,
    );
  expect(await send('/test-inbox/a')).toMatchObject({ outcome: 'accepted' });
  expect(await send('/api/json1/config')).toMatchObject({
    outcome: 'rejected',
    error: expect.stringContaining('target refused'),
  });
  expect(connections()).toBe(1);
});

test('an abort ends a request at once and does not count as an attempt', async () => {
  const stop = new AbortController();
  const { port } = await listen(() => stop.abort(new Error('stopping')));
  const sent = senderFor(port)('/test-inbox/a', stop.signal);
  await expect(sent).rejects.toThrow('stopping');
});

test('D31 our own certificate authority is trusted only for our own test inbox, under the names in its certificate', async () => {
  const authority = await createAuthority(Date.now());
  const { certificate, privateKey } = await issueCertificate(authority, ['127.0.0.1', 'other.example'], Date.now());
  const server = createHttpsServer({ cert: certificate, key: privateKey }, (_request, response) => response.end('ok'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const sendAs = async (
    host: string,
    ownHost: string,
    ownAuthority: () => string | undefined = () => undefined,
  ): Promise<SendResult> => {
    const policy = {
      ownAddress: () => ({ host: ownHost, port }),
      privateTargetsAllowed: true,
      privateTargetsSetting: 'SETTING',
      command: 'platform',
      loopback: noLoopback,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    };
    using sender = createWebhookSender({ policy, clock: new FakeClock(), ownAuthority });
    const url = `https://${host}:${port}/test-inbox/a`;
    return await sender.send(
      { url, organizationId: 'o1', method: 'GET', headers: {}, body: '' },
      new AbortController().signal,
    );
  };
  const own = (): string => authority.certificate;
  expect(await sendAs('127.0.0.1', '127.0.0.1', own)).toMatchObject({ outcome: 'accepted', response: 'ok' });
  expect(await sendAs('127.0.0.1', '127.0.0.1')).toMatchObject({
    outcome: 'retryLater',
    error: expect.stringContaining('certificate'),
  });
  // Our address, but under a name that is not in the certificate.
  expect(await sendAs('localhost', 'localhost', own)).toMatchObject({
    outcome: 'retryLater',
    error: expect.stringContaining('altnames'),
  });
});

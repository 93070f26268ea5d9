import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PlatformError } from '@platform/base';
import { expect, onTestFinished, test } from 'vitest';
import { PlainRequests } from './plain-requests.ts';

const megabyte = Buffer.alloc(1_000_000, 7);

async function start(listener: RequestListener) {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const requests = new PlainRequests(origin, { ca: undefined, socketPath: undefined, lookup: undefined });
  onTestFinished(() => {
    requests[Symbol.dispose]();
    server.closeAllConnections();
    server.close();
  });
  const put = (count: number, { signal = new AbortController().signal, quietMs = 10_000, fail = -1 } = {}) =>
    requests.put(
      {
        path: '/to',
        bytes: count * megabyte.length,
        write: async (send) => {
          for (let at = 0; at < count; at++) {
            if (at === fail) throw new PlatformError('aborted', 'the file was shortened');
            await send(megabyte);
          }
        },
      },
      new Headers({ authorization: 'Bearer token' }),
      { signal, quietMs },
    );
  return { put };
}

test('the whole body arrives with its headers, and the answer comes back; connections are reused', async () => {
  const ports = new Set<number | undefined>();
  const { put } = await start(async (request, response) => {
    ports.add(request.socket.remotePort);
    let bytes = 0;
    for await (const chunk of request) bytes += (chunk as Buffer).length;
    const { authorization, 'content-length': length } = request.headers;
    response.end(JSON.stringify({ bytes, authorization, length, method: request.method }));
  });
  for (const count of [5, 1])
    expect(await put(count)).toEqual({
      ...{ bytes: count * 1_000_000, length: `${count}000000`, authorization: 'Bearer token', method: 'PUT' },
    });
  expect(ports.size).toBe(1);
});

test('an answer before the end of the body stops it; the error has the code and delay of the answer', async () => {
  const { put } = await start((_request, response) => {
    response.writeHead(429, { 'retry-after': '3' });
    response.end(JSON.stringify({ code: 'resource_exhausted', message: 'full' }));
  });
  await expect(put(200)).rejects.toMatchObject({ code: 'resource_exhausted', message: 'full', retryAfterMs: 3_000 });
});

test.each([
  [413, '<html>too large</html>', 'unimplemented'],
  [404, '{"detail":"no"}', 'unimplemented'],
  [502, 'bad gateway', 'unavailable'],
  [200, 'welcome', 'unimplemented'],
  [401, '{"code":"unauthenticated","message":"who?"}', 'unauthenticated'],
])('status %i with the body %s is %s', async (status, body, code) => {
  const { put } = await start((request, response) => {
    request.resume();
    response.writeHead(status);
    response.end(body);
  });
  await expect(put(1)).rejects.toMatchObject({ code });
});

test('a broken connection is unavailable, a stalled one deadline_exceeded, and an abort throws its reason', async () => {
  const broken = await start((request) => void request.socket.destroy());
  await expect(broken.put(50)).rejects.toMatchObject({ code: 'unavailable' });
  const still = await start(() => {});
  await expect(still.put(50, { quietMs: 200 })).rejects.toMatchObject({ code: 'deadline_exceeded' });
  const abort = new AbortController();
  const aborted = await start(() => abort.abort(new PlatformError('canceled', 'stopping')));
  await expect(aborted.put(50, { signal: abort.signal })).rejects.toMatchObject({
    ...{ code: 'canceled', message: 'stopping' },
  });
});

test('a source that fails cuts the request, and the server does not take it for complete', async () => {
  const cut = Promise.withResolvers<boolean>();
  const { put } = await start((request) => {
    request.on('close', () => cut.resolve(request.complete));
    request.on('error', () => {});
    request.resume();
  });
  await expect(put(5, { fail: 3 })).rejects.toMatchObject({ code: 'aborted', message: 'the file was shortened' });
  expect(await cut.promise).toBe(false);
});

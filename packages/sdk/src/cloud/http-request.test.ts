import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { selfSigned, standInResolver } from '@platform/testkit';
import { expect, test } from 'vitest';
import { sendHttp } from './http-request.ts';

const { signal } = new AbortController();

/** Counts what reaches this server. */
async function started(server: Server) {
  const reached = { requests: 0 };
  server.on('request', (_request, response) => {
    reached.requests++;
    response.end('here');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...{ port, reached },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test('D16 a request in plaintext to a name of localhost is sent only if it resolves there, and else connects to nobody', async () => {
  await using server = await started(createServer());
  const url = new URL(`http://cloud.localhost:${server.port}/`);
  const headers = { authorization: 'Bearer secret', connection: 'close' };
  {
    // Whoever does not refuse the second address reaches this server at the first.
    using _resolver = standInResolver('127.0.0.1', '192.0.2.1');
    await expect(sendHttp({ url, headers, signal })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('cloud.localhost is 192.0.2.1, which is another computer'),
    });
    expect(server.reached.requests).toBe(0);
  }
  using _resolver = standInResolver('127.0.0.1');
  expect(await sendHttp({ url, headers, signal })).toEqual({ status: 200, body: 'here' });
});

test('a certificate without subject alternative names is refused, though its common name is that of the server', async () => {
  const answerTo = async (certificate: { cert: string; key: string }) => {
    await using server = await started(createTlsServer(certificate));
    const url = new URL(`https://localhost:${server.port}/`);
    const headers = { authorization: 'Bearer secret', connection: 'close' };
    const answer = await sendHttp({ url, headers, ca: certificate.cert, signal }).catch((caught: unknown) => caught);
    return { answer, requests: server.reached.requests };
  };
  expect(await answerTo(await selfSigned(1, 'none'))).toMatchObject({
    answer: { code: 'unavailable', message: expect.stringContaining('has no subject alternative names') },
    requests: 0,
  });
  expect(await answerTo(await selfSigned())).toMatchObject({ answer: { status: 200, body: 'here' }, requests: 1 });
});

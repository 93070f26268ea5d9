/** D4: links to servers whose TLS fails, and to those that send calls elsewhere. */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttp2Server, createSecureServer as createHttp2TlsServer } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { selfSigned } from '@platform/testkit';
import { expect, test } from 'vitest';
import { EchoService } from '../../test/echo-service.ts';
import { connect, type Link } from './connect.ts';
import { connectionFault } from './connection/connection-fault.ts';

const good = await selfSigned();
const nameless = await selfSigned(1, 'none');
const expired = await selfSigned(-0.5);

async function* words(): AsyncGenerator<{ value: string }> {
  yield { value: 'a' };
}

/** Calls of each type, over gRPC and plain HTTP. */
const calls: Readonly<Record<string, (link: Link) => Promise<unknown>>> = {
  'a unary call': (link) => link.client(EchoService).say({}),
  'a stream to the server': (link) => link.client(EchoService).join(words()),
  async 'a stream from the server'(link) {
    for await (const _ of link.client(EchoService).split({}));
  },
  async 'a stream in both directions'(link) {
    for await (const _ of link.client(EchoService).chat(words()));
  },
  'a body of plain HTTP': (link) =>
    link.put(
      { path: '/uploads/x', bytes: 1, write: (send) => send(Buffer.from('x')) },
      { signal: new AbortController().signal, quietMs: 60_000 },
    ),
};

interface Case {
  readonly what: string;
  readonly create: () => Server;
  readonly protocol?: 'http' | 'https';
  readonly host?: string;
  readonly ca?: string;
  readonly reason: RegExp;
  readonly kind?: string;
}

const cases: readonly Case[] = [
  {
    ...{ what: 'a certificate of nobody', create: () => createHttp2TlsServer(good) },
    ...{ reason: /self.signed certificate/i, kind: 'untrusted' },
  },
  {
    ...{ what: 'a certificate for another name', create: () => createHttp2TlsServer(good), ca: good.cert },
    ...{ host: '127.0.0.2', reason: /not in the cert's list|does not match/i, kind: 'name' },
  },
  {
    ...{ what: 'a certificate without subject alternative names', create: () => createHttp2TlsServer(nameless) },
    ...{ ca: nameless.cert, host: 'localhost', reason: /no subject alternative names/, kind: 'noNames' },
  },
  {
    ...{ what: 'a certificate that has expired', create: () => createHttp2TlsServer(expired), ca: expired.cert },
    ...{ reason: /expired/i, kind: 'dated' },
  },
  {
    ...{ what: 'no TLS', create: () => createHttpServer((_request, response) => response.end()) },
    ...{ reason: /wrong version number|packet length too long/i, kind: 'noTls' },
  },
  {
    what: 'another version of TLS',
    create: () => createTlsServer({ ...good, maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }),
    reason: /alert protocol version|unsupported protocol|handshake/i,
  },
  {
    what: 'a certificate that the server wants from the client',
    create: () => createHttp2TlsServer({ ...good, requestCert: true, rejectUnauthorized: true, ca: nameless.cert }),
    ...{ ca: good.cert, reason: /certificate required|closed|ECONNRESET|socket hang up|bad certificate|handshake/i },
  },
];

async function listening(server: Server): Promise<number> {
  server.on('tlsClientError', () => {});
  server.on('connection', (socket) => socket.on('error', () => {}));
  server.on('sessionError', () => {});
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test.each(cases)(
  'D4 $what is UNAVAILABLE with the reason for calls of every kind',
  async ({ create, host = '127.0.0.1', ca, reason, kind }) => {
    const server = create();
    const port = await listening(server);
    try {
      for (const [type, call] of Object.entries(calls)) {
        await using link = connect({ baseUrl: `https://${host}:${port}`, ca });
        const failure: unknown = await call(link).catch((caught: unknown) => caught);
        expect(failure, type).toMatchObject({ code: 'unavailable', message: expect.stringMatching(reason) });
        // Clients of plain HTTP report the connection otherwise; nobody asks them first.
        if (kind !== undefined && type !== 'a body of plain HTTP')
          expect(connectionFault(failure, `https://${host}`)?.kind, type).toBe(kind);
      }
    } finally {
      server.close();
    }
  },
);

test.each([301, 302, 303, 307, 308])(
  'D4 a redirect %i is named and not followed, and is UNAVAILABLE, not UNKNOWN or INTERNAL',
  async (status) => {
    let followed = 0;
    const target = createHttpServer((_request, response) => {
      followed++;
      response.end();
    });
    const location = `http://127.0.0.1:${await listening(target)}/elsewhere`;
    const grpc = createHttp2Server((_request, response) => response.writeHead(status, { location }).end());
    const plain = createHttpServer((request, response) => {
      request.resume();
      response.writeHead(status, { location }).end();
    });
    const ports = { grpc: await listening(grpc), plain: await listening(plain) };
    try {
      for (const [type, call] of Object.entries(calls)) {
        const isPlain = type === 'a body of plain HTTP';
        await using link = connect({ baseUrl: `http://127.0.0.1:${isPlain ? ports.plain : ports.grpc}` });
        const failure: unknown = await call(link).catch((caught: unknown) => caught);
        const code = isPlain ? 'unimplemented' : 'unavailable';
        expect(failure, type).toMatchObject({ code, message: expect.stringContaining(`redirect to ${location}`) });
      }
      expect(followed).toBe(0);
    } finally {
      for (const server of [target, grpc, plain]) server.close();
    }
  },
);

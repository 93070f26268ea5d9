import { X509Certificate } from 'node:crypto';
import { connect as connectHttp2 } from 'node:http2';
import { Agent, get } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { create } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { credentials as grpcCredentials } from '@grpc/grpc-js';
import { selfSigned } from '@platform/testkit';
import { describe, expect, test } from 'vitest';
import { EchoService } from '../../test/echo-service.ts';
import { grpcJs, unary } from '../../test/grpc-js.ts';
import { credentials, patientClock, startEcho } from '../../test/start-echo.ts';
import { connect } from '../link/connect.ts';
import { pinnedAuthority } from '../link/connection/pinned-authority.ts';
import type { UpgradeListener } from './listeners.ts';

const tls = await selfSigned();

describe('D3 one port under TLS', () => {
  test('D3 serves gRPC to our link and to another implementation, and HTTP/1.1 to other clients', async () => {
    await using server = await startEcho({}, { tls });
    await using link = connect({ baseUrl: server.url, credentials, ca: tls.cert });
    expect((await link.client(EchoService).say({ value: 'x' })).value).toBe('you said x');

    const client = grpcJs(server.port, grpcCredentials.createSsl(Buffer.from(tls.cert)));
    const request = create(StringValueSchema, { value: 'y' });
    const answer = await unary(
      client,
      '/viam.test.v1.EchoService/Say',
      [StringValueSchema, request],
      StringValueSchema,
    );
    expect(answer.value).toBe('you said y');
    client.close();

    const version = await new Promise<string>((resolve, reject) => {
      get(`${server.url}/page`, { ca: tls.cert }, (response) => {
        response.resume();
        resolve(`${response.httpVersion} ${response.statusCode}`);
      }).on('error', reject);
    });
    expect(version).toBe('1.1 404');
  });

  test('D3 hands WebSocket requests to the application', async () => {
    const upgrade: UpgradeListener = (_request, socket) =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n');
    await using server = await startEcho({}, { tls, upgrade });
    const headers = { connection: 'upgrade', upgrade: 'websocket' };
    const upgraded = await new Promise<string | undefined>((resolve, reject) => {
      get(`${server.url}/live`, { ca: tls.cert, headers })
        .on('upgrade', (response) => resolve(response.headers.upgrade))
        .on('error', reject);
    });
    expect(upgraded).toBe('websocket');
  });

  test('stopping ends idle connections of both versions', async () => {
    const server = await startEcho({}, { tls, clock: patientClock });
    await using link = connect({ baseUrl: server.url, credentials, ca: tls.cert });
    await link.client(EchoService).say({});
    const agent = new Agent({ keepAlive: true, ca: tls.cert });
    const staysFor = await new Promise<unknown>((resolve) => {
      get(`${server.url}/page`, { agent }, (response) =>
        response.resume().on('end', () => resolve(response.headers['keep-alive'])),
      );
    });
    expect(staysFor).toBe('timeout=75');
    await server.close();
    agent.destroy();
  });

  test('a link sends nothing to a server whose certificate it cannot trust', async () => {
    await using server = await startEcho({}, { tls });
    await using link = connect({ baseUrl: server.url, credentials });
    await expect(link.client(EchoService).say({ value: 'x' })).rejects.toMatchObject({
      code: expect.not.stringMatching('unauthenticated'),
    });
    expect(server.signIns.count).toBe(0);
    expect(link.state).toBe('unreachable');
  });

  test('D31 plaintext to the port is refused with a message, over HTTP/1.1 and HTTP/2, and reaches no handler', async () => {
    await using server = await startEcho({}, { tls });
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connectTcp(server.port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'));
      let text = '';
      socket.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      socket.on('end', () => resolve(text)).on('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*use https:\/\//s);

    const goAway = await new Promise<[number, string]>((resolve, reject) => {
      const session = connectHttp2(`http://127.0.0.1:${server.port}`);
      session.on('goaway', (code, _last, data) => resolve([code, data?.toString() ?? '']));
      session.on('error', () => {});
      session.on('close', () => reject(new Error('closed without a reason')));
    });
    expect(goAway).toEqual([0xc, expect.stringContaining('use https://')]);
    expect(server.signIns.count).toBe(0);
  });

  test('D31 new connections get a new certificate, old ones continue', async () => {
    const next = await selfSigned();
    await using server = await startEcho({}, { tls });
    await using old = connect({ baseUrl: server.url, credentials, ca: tls.cert });
    await old.client(EchoService).say({ value: 'x' });
    server.setTls(next);
    await using fresh = connect({ baseUrl: server.url, credentials, ca: next.cert });
    expect((await fresh.client(EchoService).say({ value: 'y' })).value).toBe('you said y');
    expect((await old.client(EchoService).say({ value: 'z' })).value).toBe('you said z');
  });

  test('D31 the authority is fetched by its fingerprint; another fingerprint is refused and nothing is sent', async () => {
    await using server = await startEcho({}, { tls });
    const fingerprint = new X509Certificate(tls.cert).fingerprint256;
    const ca = await pinnedAuthority(server.url, fingerprint.toLowerCase());
    await using link = connect({ baseUrl: server.url, credentials, ca });
    expect((await link.client(EchoService).say({ value: 'x' })).value).toBe('you said x');

    const other = Array(32).fill('AB').join(':');
    await expect(pinnedAuthority(server.url, other)).rejects.toMatchObject({
      code: 'failed_precondition',
      message: expect.stringContaining(
        `expected a certificate chain with the fingerprint ${other}, found ${fingerprint}`,
      ),
    });
    expect(server.signIns.count).toBe(1);
  });
});

import { Agent, get } from 'node:https';
import { create } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { credentials as grpcCredentials } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { selfSigned } from '../../test/certificate.ts';
import { EchoService } from '../../test/echo-service.ts';
import { grpcJs, unary } from '../../test/grpc-js.ts';
import { credentials, patientClock, startEcho } from '../../test/start-echo.ts';
import { connect } from '../link/connect.ts';
import type { UpgradeListener } from './ports.ts';

const tls = await selfSigned();

describe('D3 one port under TLS', () => {
  test('D3 speaks gRPC to our link and to another implementation, and HTTP/1.1 to the rest', async () => {
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
    await new Promise<void>((resolve) => {
      get(`${server.url}/page`, { agent }, (response) => response.resume().on('end', () => resolve()));
    });
    await server.close();
    agent.destroy();
  });

  test('a link does not talk to a certificate that it cannot trust, and sends it nothing', async () => {
    await using server = await startEcho({}, { tls });
    await using link = connect({ baseUrl: server.url, credentials });
    await expect(link.client(EchoService).say({ value: 'x' })).rejects.toMatchObject({
      code: expect.not.stringMatching('unauthenticated'),
    });
    expect(server.signIns.count).toBe(0);
    expect(link.state).toBe('unreachable');
  });
});

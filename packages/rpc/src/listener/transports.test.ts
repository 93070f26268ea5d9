import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { create, fromBinary } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { DataSyncService, RawDataCaptureUploadRequestSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { describe, expect, test } from 'vitest';
import { codeOf, hello, helloBytes, json, say } from '../../test/echo-requests.ts';
import { EchoService } from '../../test/echo-service.ts';
import { grpcJs, unary } from '../../test/grpc-js.ts';
import { grpcWeb } from '../../test/grpc-web.ts';
import { credentials, type Principal, startEcho } from '../../test/start-echo.ts';
import { rawUnary, serve } from '../core/binding.ts';
import { connect } from '../link/connect.ts';

describe('D3 one plaintext port', () => {
  test('D3 answers gRPC from another implementation, on all its paths', async () => {
    await using server = await startEcho();
    const client = grpcJs(server.port);
    const answer = await unary(client, say, [StringValueSchema, hello], StringValueSchema);
    const aliased = await unary(client, say.replace('platform', 'viam'), [StringValueSchema, hello], StringValueSchema);
    client.close();
    expect([answer.value, aliased.value]).toEqual(['you said hello', 'you said hello']);
    expect(server.calls.map((call) => [call.method, call.vocabulary])).toEqual([
      [say, 'core'],
      [say, 'rdk'],
    ]);
    expect(server.calls[0]?.principal.name).toBe('token-1');
    expect(server.calls[0]?.peerAddress).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  test('D3 answers gRPC-Web over HTTP/1.1, as the public TypeScript client sends it', async () => {
    await using server = await startEcho();
    const { status, messages, trailers } = await grpcWeb(server.url + say.replace('platform', 'viam'), helloBytes);
    expect(status).toBe(200);
    expect(messages.map((bytes) => fromBinary(StringValueSchema, bytes).value)).toEqual(['you said hello']);
    expect(trailers['grpc-status']).toBe('0');
  });

  test('a call names the address that its client dialled, over HTTP/1.1 and HTTP/2, on the fast and the general path', async () => {
    await using server = await startEcho();
    await grpcWeb(server.url + say, helloBytes);
    const client = grpcJs(server.port);
    await unary(client, say, [StringValueSchema, hello], StringValueSchema);
    client.close();
    await using link = connect({ baseUrl: server.url, credentials });
    for await (const _ of link.client(EchoService).split({ value: 'hello' })) break;
    expect(server.calls.map(({ metadata }) => metadata.get('host'))).toEqual([
      `127.0.0.1:${server.port}`,
      `127.0.0.1:${server.port}`,
      `127.0.0.1:${server.port}`,
    ]);
  });

  test('D3 answers Connect JSON by fetch', async () => {
    await using server = await startEcho();
    const response = await fetch(server.url + say, { method: 'POST', headers: json, body: '"hello"' });
    expect([response.status, await response.json()]).toEqual([200, 'you said hello']);
  });

  test('D3 answers REST, and its errors carry the numeric code', async () => {
    await using server = await startEcho();
    const signIn = (payload: string) =>
      fetch(`${server.url}/rpc/v1/authenticate`, {
        method: 'POST',
        body: JSON.stringify({ entity: 'key-1', credentials: { type: 'api-key', payload } }),
      });
    expect(await (await signIn('secret')).json()).toEqual({ accessToken: 'token-1' });
    const refused = await signIn('wrong');
    expect(refused.status).toBe(403);
    expect(await refused.json()).toEqual({ code: 7, message: expect.stringContaining('key-1'), details: [] });
    const broken = await fetch(`${server.url}/rpc/v1/authenticate`, { method: 'POST', body: '{"entity":' });
    expect([broken.status, await codeOf(broken)]).toEqual([400, 3]);
    expect((await fetch(`${server.url}/rpc/v1/authenticate`)).status).toBe(405);
  });

  test('D3 REST fills request fields from the path and uses core names, or rdk names below /viam/', async () => {
    const sensor = serve<typeof SensorService, Principal>(SensorService, {
      getReadings: ({ name }, call) => ({
        readings: { name: { kind: { case: 'stringValue', value: `${name} ${call.vocabulary}` } } },
      }),
    });
    await using server = await startEcho({}, { services: [sensor] });
    const readings = async (prefix: string) =>
      (await fetch(`${server.url}${prefix}/api/v1/component/sensor/front%20door/readings`, { headers: json })).json();
    expect(await readings('/platform')).toEqual({ readings: { name: 'front door core' } });
    expect(await readings('/viam')).toEqual({ readings: { name: 'front door rdk' } });
  });

  test('D3 passes everything that is not a call to the application, its address unchanged', async () => {
    await using server = await startEcho();
    const response = await fetch(`${server.url}/viam.html?x=1`);
    expect([response.status, await response.text()]).toEqual([404, 'nothing at /viam.html?x=1']);
    const posted = await fetch(`${server.url}/api/json1/config`, { method: 'POST', headers: json, body: '{}' });
    expect(await posted.text()).toBe('nothing at /api/json1/config');
  });

  test('D3 hands WebSocket requests to the application', async () => {
    await using server = await startEcho(
      {},
      {
        upgrade: (_request, socket) =>
          socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'),
      },
    );
    const upgraded = await new Promise<string | undefined>((resolve, reject) => {
      request(`${server.url}/live`, { headers: { connection: 'upgrade', upgrade: 'websocket' } })
        .on('upgrade', (response) => resolve(response.headers.upgrade))
        .on('error', reject)
        .end();
    });
    expect(upgraded).toBe('websocket');
    const text = await new Promise<string>((resolve, reject) => {
      request(`${server.url}/old`, { headers: { connection: 'upgrade', upgrade: 'h2c' } })
        .on('response', (response) => response.setEncoding('utf8').on('data', resolve))
        .on('error', reject)
        .end();
    });
    expect(text).toBe('nothing at /old');
  });

  test('D48 without an application that takes them, a request for WebSocket is a call of HTTP/1.1, with its limits', async () => {
    await using server = await startEcho();
    const call = (body: string) =>
      new Promise<[number | undefined, string]>((resolve, reject) => {
        const headers = { ...json, authorization: 'Bearer token-1', connection: 'upgrade', upgrade: 'websocket' };
        request(`${server.url}/platform.test.v1.EchoService/Say`, { method: 'POST', headers })
          .on('response', (answer) => void text(answer).then((read) => resolve([answer.statusCode, read]), reject))
          .on('upgrade', () => reject(new Error('it was upgraded')))
          .on('error', reject)
          .end(body);
      });
    expect(await call('"a"')).toEqual([200, '"you said a"']);
    expect(await call(`[${'1,'.repeat(100_000)}1]`)).toEqual([429, expect.stringContaining('at most 100000 fields')]);
  });
});

describe('a raw unary method', () => {
  test('passes undecoded readings from binary codecs and decoded ones from JSON', async () => {
    const upload = DataSyncService.method.dataCaptureUpload;
    const services = [
      serve<typeof DataSyncService, Principal>(DataSyncService, {
        dataCaptureUpload: ({ sensorContents }) => ({ fileId: `decoded ${sensorContents.length}` }),
      }),
      rawUnary(upload, RawDataCaptureUploadRequestSchema, ({ sensorContents }) => ({
        fileId: `raw ${sensorContents.map((bytes) => bytes.length).join()}`,
      })),
    ];
    await using server = await startEcho({}, { services });
    const request = create(upload.input, {
      sensorContents: [{ data: { case: 'binary', value: new Uint8Array(3) } }, {}],
    });
    const client = grpcJs(server.port);
    const answer = await unary(
      client,
      '/viam.app.datasync.v1.DataSyncService/DataCaptureUpload',
      [upload.input, request],
      upload.output,
    );
    client.close();
    expect(answer.fileId).toBe('raw 5,0');
    const rest = await fetch(`${server.url}/datasync/v1/data_capture_upload`, {
      method: 'POST',
      headers: json,
      body: '{"sensorContents":[{}]}',
    });
    expect(await rest.json()).toEqual({ fileId: 'decoded 1' });
  });
});

describe('D2 the compatibility edge', () => {
  test('D2 an rdk peer and a core peer see the same configuration, each in its own spelling; uploads are core inside', async () => {
    const robot = serve<typeof RobotService, Principal>(RobotService, {
      config: () => ({ config: { components: [{ api: 'core:component:sensor', model: 'core:builtin:fake' }] } }),
    });
    const uploads: string[] = [];
    const sync = serve<typeof DataSyncService, Principal>(DataSyncService, {
      dataCaptureUpload: ({ metadata }) => ({ fileId: metadata?.componentType ?? '' }),
      async fileUpload(requests) {
        for await (const { uploadPacket } of requests)
          if (uploadPacket.case === 'metadata') uploads.push(uploadPacket.value.componentType);
        return {};
      },
    });
    await using server = await startEcho({}, { services: [robot, sync] });
    const client = grpcJs(server.port);
    const { config } = RobotService.method;
    const apiFor = async (name: string) => {
      const path = `/${name}.app.v1.RobotService/Config`;
      const answer = await unary(client, path, [config.input, create(config.input)], config.output);
      return [answer.config?.components[0]?.api, answer.config?.components[0]?.model];
    };
    expect(await apiFor('viam')).toEqual(['rdk:component:sensor', 'rdk:builtin:fake']);
    expect(await apiFor('platform')).toEqual(['core:component:sensor', 'core:builtin:fake']);

    const { dataCaptureUpload: upload } = DataSyncService.method;
    const request = create(upload.input, { metadata: { componentType: 'rdk:component:sensor' } });
    const path = '/viam.app.datasync.v1.DataSyncService/DataCaptureUpload';
    expect((await unary(client, path, [upload.input, request], upload.output)).fileId).toBe('core:component:sensor');
    client.close();

    await using link = connect({ baseUrl: server.url, credentials });
    await link.client(DataSyncService).fileUpload(
      (async function* () {
        yield { uploadPacket: { case: 'metadata' as const, value: { componentType: 'rdk:service:vision' } } };
      })(),
    );
    expect(uploads).toEqual(['core:service:vision']);
  });
});

describe('cross-origin calls', () => {
  test('a preflight allows the requested headers, and answers expose the status; no origin may send cookies', async () => {
    await using server = await startEcho();
    const asked = {
      origin: 'http://localhost:3000',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,viam_client,my-key',
    };
    const preflight = await fetch(server.url + say.replace('platform', 'viam'), { method: 'OPTIONS', headers: asked });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization,viam_client,my-key');
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
    const { headers } = await grpcWeb(server.url + say, helloBytes, { origin: 'http://localhost:3000' });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('access-control-expose-headers')).toContain('grpc-message');
  });
});

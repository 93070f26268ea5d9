import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import { DataSyncService, RawDataCaptureUploadRequestSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { describe, expect, test } from 'vitest';
import { grpcJs, unary } from '../../test/grpc-js.ts';
import { grpcWeb } from '../../test/grpc-web.ts';
import { credentials, type Principal, startEcho } from '../../test/start-echo.ts';
import { rawUnary, serve } from '../core/binding.ts';
import { connect } from '../link/connect.ts';

const say = '/platform.test.v1.EchoService/Say';
const hello = create(StringValueSchema, { value: 'hello' });
const helloBytes = toBinary(StringValueSchema, hello);
const json = { 'content-type': 'application/json', authorization: 'Bearer token-1' };

async function codeOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { code?: unknown }).code;
}

describe('D3 one plaintext port', () => {
  test('D3 answers gRPC by another implementation, in all its paths', async () => {
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

  test('D3 answers Connect JSON by fetch', async () => {
    await using server = await startEcho();
    const response = await fetch(server.url + say, { method: 'POST', headers: json, body: '"hello"' });
    expect([response.status, await response.json()]).toEqual([200, 'you said hello']);
  });

  test('D3 answers REST, and its errors carry the number of the code', async () => {
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

  test('D3 REST fills request fields from the path and speaks core, below /viam/ rdk', async () => {
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

  test('D3 gives everything that is no call to the application, its address untouched', async () => {
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
          socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: test\r\nconnection: upgrade\r\n\r\n'),
      },
    );
    const { request } = await import('node:http');
    const upgraded = await new Promise<string | undefined>((resolve, reject) => {
      request(`${server.url}/live`, { headers: { connection: 'upgrade', upgrade: 'test' } })
        .on('upgrade', (response) => resolve(response.headers.upgrade))
        .on('error', reject)
        .end();
    });
    expect(upgraded).toBe('test');
  });
});

describe('a raw unary method', () => {
  test('gives undecoded readings to binary codecs and decoded ones to JSON', async () => {
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
  test('D2 an rdk peer and a core peer see the same configuration, each in its spelling; uploads are core inside', async () => {
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
  test('a preflight echoes origin and requested headers; answers expose the status', async () => {
    await using server = await startEcho();
    const asked = {
      origin: 'http://localhost:3000',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,viam_client,my-key',
    };
    const preflight = await fetch(server.url + say.replace('platform', 'viam'), { method: 'OPTIONS', headers: asked });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('http://localhost:3000');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization,viam_client,my-key');
    expect(preflight.headers.get('access-control-allow-credentials')).toBe('true');
    const { headers } = await grpcWeb(server.url + say, helloBytes, { origin: 'http://localhost:3000' });
    expect(headers.get('access-control-allow-origin')).toBe('http://localhost:3000');
    expect(headers.get('access-control-expose-headers')).toContain('grpc-message');
  });
});

describe('calls that cannot be answered', () => {
  test('D4 an unknown method is UNIMPLEMENTED in the caller’s framing, with a sentence', async () => {
    await using server = await startEcho();
    const client = grpcJs(server.port);
    const unknown = (path: string) => unary(client, path, [StringValueSchema, hello], StringValueSchema);
    await expect(unknown('/platform.test.v1.EchoService/Shout')).rejects.toMatchObject({
      code: 12,
      details: 'platform.test.v1.EchoService has no method Shout here; it has Say, Join, Split, Chat, Missing',
    });
    await expect(unknown('/platform.test.v1.OtherService/Say')).rejects.toMatchObject({
      code: 12,
      details: expect.stringContaining('no service'),
    });
    client.close();
    const web = await grpcWeb(`${server.url}/viam.test.v1.EchoService/Shout`, helloBytes);
    expect([web.status, web.trailers['grpc-status']]).toEqual([200, '12']);
    const connect = await fetch(`${server.url}/platform.test.v1.EchoService/Shout`, {
      method: 'POST',
      headers: json,
      body: '{}',
    });
    expect([connect.status, await codeOf(connect)]).toEqual([501, 'unimplemented']);
  });

  test('D4 a method without a function is UNIMPLEMENTED and named', async () => {
    await using server = await startEcho();
    const client = grpcJs(server.port);
    const call = unary(client, '/platform.test.v1.EchoService/Missing', [StringValueSchema, hello], StringValueSchema);
    await expect(call).rejects.toMatchObject({ code: 12, details: expect.stringContaining('Missing') });
    client.close();
  });

  test('D4 a typed error crosses with its code and text; anything else is INTERNAL with an id, its text only in the log', async () => {
    await using server = await startEcho({
      say({ value }) {
        if (value === 'typed')
          throw new PlatformError('not_found', 'no part “x”: 100 %, expected an id; /a?b', new Error('hidden cause'));
        if (value === 'unknown') throw new PlatformError('unknown', 'never on the wire');
        throw new Error('password=hunter2');
      },
    });
    const client = grpcJs(server.port);
    const call = (value: string) =>
      unary(client, say, [StringValueSchema, create(StringValueSchema, { value })], StringValueSchema);
    await expect(call('typed')).rejects.toMatchObject({ code: 5, details: 'no part “x”: 100 %, expected an id; /a?b' });
    await expect(call('unknown')).rejects.toMatchObject({ code: 13 });
    const failure: { code: number; details: string } = await call('other').catch((caught) => caught);
    client.close();
    expect(failure.code).toBe(13);
    expect(failure.details).not.toContain('hunter2');
    const id = /request id (\S+)/.exec(failure.details)?.[1] ?? 'none';
    expect(server.logged.filter((line) => line.includes(id) && line.includes('hunter2'))).toHaveLength(1);
  });

  test('a call without a valid token is UNAUTHENTICATED before its body is read', async () => {
    await using server = await startEcho();
    const { trailers } = await grpcWeb(server.url + say, new Uint8Array([255, 255]), { authorization: 'Bearer other' });
    expect(trailers['grpc-status']).toBe('16');
    expect(server.calls).toHaveLength(0);
  });

  test('a message over the limit is RESOURCE_EXHAUSTED in every codec, also when it grows by decompression', async () => {
    await using server = await startEcho({}, { maxMessageBytes: 1000 });
    const value = 'x'.repeat(2000);
    const client = grpcJs(server.port);
    const grpc = unary(client, say, [StringValueSchema, create(StringValueSchema, { value })], StringValueSchema);
    await expect(grpc).rejects.toMatchObject({ code: 8 });
    client.close();
    const { gzipSync } = await import('node:zlib');
    const post = (path: string, body: string | Uint8Array<ArrayBuffer>, headers = {}) =>
      fetch(server.url + path, { method: 'POST', headers: { ...json, ...headers }, body });
    const responses = await Promise.all([
      post(say, JSON.stringify(value)),
      post(say, gzipSync(JSON.stringify(value)), { 'content-encoding': 'gzip' }),
      post('/rpc/v1/authenticate', JSON.stringify({ entity: value })),
    ]);
    const codes = await Promise.all(responses.map(async (response) => await codeOf(response)));
    expect(codes).toEqual(['resource_exhausted', 'resource_exhausted', 8]);
    expect(server.calls).toHaveLength(0);
  });
});

describe('a call’s end', () => {
  test('a deadline ends a method that never answers, and its signal', async () => {
    const ended = Promise.withResolvers<boolean>();
    await using server = await startEcho({
      say(_request, call) {
        call.signal.addEventListener('abort', () => ended.resolve(call.deadline !== undefined));
        return new Promise(() => {});
      },
    });
    const response = await fetch(server.url + say, {
      method: 'POST',
      headers: { ...json, 'connect-timeout-ms': '50' },
      body: '""',
    });
    expect(await codeOf(response)).toBe('deadline_exceeded');
    expect(await ended.promise).toBe(true);
  });

  test('a deadline ends a stream in either direction that hangs', async () => {
    await using server = await startEcho({
      async *split() {
        yield { value: 'first' };
        await new Promise(() => {});
      },
      async join(requests) {
        for await (const _request of requests);
        return { value: '' };
      },
    });
    const client = grpcJs(server.port);
    const { bearer } = await import('../../test/grpc-js.ts');
    const encode = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
    const status = (call: import('node:events').EventEmitter): Promise<number> =>
      new Promise((resolve) => {
        call.on('data', () => {});
        call.on('error', (error: { code: number }) => resolve(error.code));
      });
    const split = client.makeServerStreamRequest(
      '/platform.test.v1.EchoService/Split',
      encode,
      encode,
      helloBytes,
      bearer('token-1'),
      { deadline: Date.now() + 100 },
    );
    expect(await status(split)).toBe(4);
    client.close();
  });

  test('a client that leaves aborts the signal, and the source of a stream is closed', async () => {
    const closed = Promise.withResolvers<string>();
    await using server = await startEcho({
      async *split(_request, call) {
        try {
          for (;;) {
            yield { value: 'tick' };
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        } finally {
          closed.resolve(call.signal.aborted ? 'closed' : 'closed too early');
        }
      },
    });
    const client = grpcJs(server.port);
    const { bearer } = await import('../../test/grpc-js.ts');
    const call = client.makeServerStreamRequest(
      '/platform.test.v1.EchoService/Split',
      (bytes: Uint8Array) => Buffer.from(bytes),
      (bytes: Buffer) => bytes,
      helloBytes,
      bearer('token-1'),
    );
    call.on('error', () => {});
    call.once('data', () => call.cancel());
    expect(await closed.promise).toBe('closed');
    client.close();
  });
});

import type { EventEmitter } from 'node:events';
import { gzipSync } from 'node:zlib';
import { create } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { ownFault, PlatformError } from '@platform/base';
import { describe, expect, test } from 'vitest';
import { codeOf, hello, helloBytes, json, say } from '../../test/echo-requests.ts';
import { bearer, grpcJs, unary } from '../../test/grpc-js.ts';
import { grpcWeb } from '../../test/grpc-web.ts';
import { startEcho } from '../../test/start-echo.ts';

describe('calls that cannot be answered', () => {
  test('D4 an unknown method is UNIMPLEMENTED in the caller’s framing and names, with a message', async () => {
    await using server = await startEcho();
    const client = grpcJs(server.port);
    const unknown = (path: string) => unary(client, path, [StringValueSchema, hello], StringValueSchema);
    await expect(unknown('/platform.test.v1.EchoService/Shout')).rejects.toMatchObject({
      code: 12,
      details: 'platform.test.v1.EchoService has no method Shout on this server',
    });
    await expect(unknown('/viam.test.v1.OtherService/Say')).rejects.toMatchObject({
      code: 12,
      details: 'this server has no service viam.test.v1.OtherService, so no method /viam.test.v1.OtherService/Say',
    });
    await expect(unknown('/viam.test.v1.EchoService/Shout')).rejects.toMatchObject({
      details: 'viam.test.v1.EchoService has no method Shout on this server',
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
    for (const name of ['viam', 'platform']) {
      const path = `/${name}.test.v1.EchoService/Missing`;
      await expect(unary(client, path, [StringValueSchema, hello], StringValueSchema)).rejects.toMatchObject({
        code: 12,
        details: `${name}.test.v1.EchoService.Missing is not implemented by this server`,
      });
    }
    client.close();
  });

  test('D4 an error whose text is long, or was cut inside a character, is sent with its code', async () => {
    await using server = await startEcho({
      say({ value }) {
        throw new PlatformError('not_found', value === 'long' ? 'ü'.repeat(50_000) : 'cut \u{1f600}'.slice(0, 5));
      },
    });
    const client = grpcJs(server.port);
    const call = (value: string) =>
      unary(client, say, [StringValueSchema, create(StringValueSchema, { value })], StringValueSchema);
    await expect(call('cut')).rejects.toMatchObject({ code: 5, details: 'cut \ufffd' });
    await expect(call('long')).rejects.toMatchObject({ code: 5, details: expect.stringMatching(/^ü+…$/) });
    client.close();
  });

  test('D4 a typed error is sent with its code and text; anything else is INTERNAL with an id, its text only in the log', async () => {
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
    const id = /reference (\w+)/.exec(failure.details)?.[1] ?? 'none';
    expect(server.logged.filter((line) => line.includes(id) && line.includes('hunter2'))).toHaveLength(1);
  });

  test('a call without a valid token is UNAUTHENTICATED before its body is read', async () => {
    await using server = await startEcho();
    const { trailers } = await grpcWeb(server.url + say, new Uint8Array([255, 255]), { authorization: 'Bearer other' });
    expect(trailers['grpc-status']).toBe('16');
    expect(server.calls).toHaveLength(0);
  });

  test('a message over the limit is RESOURCE_EXHAUSTED in every codec, even when it grows by decompression', async () => {
    await using server = await startEcho({}, { maxMessageBytes: 1000 });
    const value = 'x'.repeat(2000);
    const client = grpcJs(server.port);
    const grpc = unary(client, say, [StringValueSchema, create(StringValueSchema, { value })], StringValueSchema);
    const sentence =
      /^expected a request message of at most 1000 bytes \(maxMessageBytes\), found (2003|more.*): split it/;
    await expect(grpc).rejects.toMatchObject({ code: 8, details: expect.stringMatching(sentence) });
    client.close();
    const post = (path: string, body: string | Uint8Array<ArrayBuffer>, headers = {}) =>
      fetch(server.url + path, { method: 'POST', headers: { ...json, ...headers }, body });
    const responses = await Promise.all([
      post(say, JSON.stringify(value)),
      post(say, gzipSync(JSON.stringify(value)), { 'content-encoding': 'gzip' }),
      post('/rpc/v1/authenticate', JSON.stringify({ entity: value })),
    ]);
    const answers = await Promise.all(responses.map((response) => response.json()));
    expect(answers).toEqual([
      {
        code: 'resource_exhausted',
        message: expect.stringContaining('at most 1000 bytes (maxMessageBytes), found 2002'),
      },
      { code: 'resource_exhausted', message: expect.stringContaining('found more after decompression') },
      { code: 8, message: expect.stringMatching(/at most 1000 bytes \(maxMessageBytes\), found 20\d\d/), details: [] },
    ]);
    expect(server.calls).toHaveLength(0);
  });

  test('a method may have a lower limit than the server: more is RESOURCE_EXHAUSTED, even when it grows by decompression', async () => {
    const limits = { 'platform.test.v1.EchoService/Say': { maxRequestBytes: 100 } };
    await using server = await startEcho({}, { limits });
    const value = JSON.stringify('x'.repeat(200));
    const post = (path: string, body: string | Uint8Array<ArrayBuffer>, headers = {}) =>
      fetch(server.url + path, { method: 'POST', headers: { ...json, ...headers }, body });
    for (const response of await Promise.all([
      post(say, value),
      post(say, gzipSync(value), { 'content-encoding': 'gzip' }),
    ]))
      expect(await response.json()).toMatchObject({
        code: 'resource_exhausted',
        message: expect.stringContaining('at most 100 bytes'),
      });
    const client = grpcJs(server.port);
    const grpc = unary(client, say, [StringValueSchema, create(StringValueSchema, { value })], StringValueSchema);
    await expect(grpc).rejects.toMatchObject({ code: 8 });
    client.close();
    expect(server.calls).toHaveLength(0);
    expect((await post(say, '"short"')).status).toBe(200);
    const other = await post('/rpc/v1/authenticate', JSON.stringify({ entity: 'x'.repeat(200) }));
    expect(await other.json()).not.toMatchObject({ code: 8 });
  });
});

describe('the end of a call', () => {
  test('a deadline ends a method that never answers, and aborts its signal', async () => {
    const ended = Promise.withResolvers<boolean>();
    await using server = await startEcho({
      say(_request, call) {
        call.signal.addEventListener('abort', () => ended.resolve(call.deadline !== undefined));
        return new Promise(() => {});
      },
    });
    // On a slow computer a deadline may pass before the method is called.
    for (let timeoutMs = 50; server.calls.length === 0; timeoutMs *= 2) {
      const response = await fetch(server.url + say, {
        method: 'POST',
        headers: { ...json, 'connect-timeout-ms': `${timeoutMs}` },
        body: '""',
      });
      expect(await codeOf(response)).toBe('deadline_exceeded');
    }
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
    const encode = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
    const status = (call: EventEmitter): Promise<number> =>
      new Promise((resolve) => {
        call.on('data', () => {});
        call.on('error', (error: { code: number }) => resolve(error.code));
      });
    const path = (name: string): string => `/platform.test.v1.EchoService/${name}`;
    const soon = { deadline: Date.now() + 100 };
    const split = client.makeServerStreamRequest(path('Split'), encode, encode, helloBytes, bearer('token-1'), soon);
    expect(await status(split)).toBe(4);
    // Over Connect only the server enforces the deadline; the client never ends its side.
    const body = new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array([0, 0, 0, 0, 2, 34, 34])) });
    const headers = { ...json, 'content-type': 'application/connect+json', 'connect-timeout-ms': '50' };
    const join = await fetch(server.url + path('Join'), { method: 'POST', headers, body, duplex: 'half' });
    expect(await join.text()).toContain('deadline_exceeded');
    client.close();
  });

  test('a client that disconnects aborts the signal and closes the source of a stream', async () => {
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

describe('D37 faults on our side', () => {
  const secret = '/srv/data/parquet/x.parquet: SELECT password FROM people';
  const forms: readonly (readonly [string, (server: Awaited<ReturnType<typeof startEcho>>) => Promise<string>])[] = [
    ['gRPC', (server) => grpcText(server, helloBytes, false)],
    ['gRPC with a compressed answer, on the general path', (server) => grpcText(server, helloBytes, true)],
    ['gRPC-Web', async (server) => JSON.stringify((await grpcWeb(server.url + say, helloBytes)).trailers)],
    [
      'Connect',
      async (server) => await (await fetch(server.url + say, { method: 'POST', headers: json, body: '"x"' })).text(),
    ],
    [
      'a stream',
      async (server) => {
        const client = grpcJs(server.port);
        const encode = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
        const call = client.makeServerStreamRequest(split, encode, encode, helloBytes, bearer('token-1'));
        const failure = await new Promise<{ code: number; details: string }>((resolve) => {
          call.on('data', () => {});
          call.on('error', resolve as never);
        });
        client.close();
        return `${failure.code} ${failure.details}`;
      },
    ],
    [
      'a stream of Connect',
      async (server) => {
        const body = new Uint8Array([0, 0, 0, 0, 3, 34, 120, 34]);
        const headers = { ...json, 'content-type': 'application/connect+json' };
        return await (await fetch(server.url + split, { method: 'POST', headers, body })).text();
      },
    ],
  ];
  const split = '/platform.test.v1.EchoService/Split';

  async function grpcText(
    server: Awaited<ReturnType<typeof startEcho>>,
    bytes: Uint8Array,
    general: boolean,
  ): Promise<string> {
    const client = grpcJs(server.port);
    const encode = (given: Uint8Array): Buffer => Buffer.from(given);
    const metadata = bearer('token-1');
    // Only ordinary requests take the fast path.
    if (general) metadata.set('grpc-encoding', 'gzip');
    const failure = await new Promise<{ code: number; details: string }>((resolve) =>
      client.makeUnaryRequest(say, encode, encode, bytes, metadata, (error) => resolve(error as never)),
    );
    client.close();
    return `${failure.code} ${failure.details}`;
  }

  const faults: readonly (readonly [string, () => unknown])[] = [
    ['thrown as it came', () => new Error(secret)],
    ['typed INTERNAL', () => new PlatformError('internal', secret)],
    ['typed for the caller', () => ownFault('unavailable', 'the store is busy', secret, new Error('inside'))],
    ['a full disk', () => Object.assign(new Error(secret), { code: 'ENOSPC' })],
  ];

  test.each(faults)(
    '%s: in every protocol, the peer gets a reference and no internal details, and the log has the cause under it',
    async (_name, fault) => {
      await using server = await startEcho(
        {
          say() {
            throw fault();
          },
          // biome-ignore lint/correctness/useYield: it fails before.
          async *split() {
            throw fault();
          },
        },
        { callerFields: ({ name }) => ({ caller: name }) },
      );
      for (const [form, ask] of forms) {
        const text = decodeURIComponent(await ask(server));
        expect(text, form).toMatch(/\(reference [a-z0-9]{10}\)/);
        const [, reference = 'none'] = /reference (\w+)/.exec(text) ?? [];
        // The reference is random and may contain such a word.
        expect(text.replaceAll(reference, ''), form).not.toMatch(/srv|SELECT|inside|at .*\.ts/);
        const lines = server.logged.filter((line) => line.includes(reference));
        expect(lines, form).toHaveLength(1);
        for (const word of [secret, 'faults.test.ts', 'EchoService', 'caller']) expect(lines[0], form).toContain(word);
      }
    },
  );

  test('a typed fault is logged by its name, and not as unexpected', async () => {
    await using server = await startEcho({
      say() {
        throw Object.assign(new Error(secret), { code: 'ENOSPC' });
      },
    });
    await grpcText(server, helloBytes, false);
    expect(server.logged.filter((line) => line.includes('a call failed: the disk of the server is full'))).toHaveLength(
      1,
    );
    expect(server.logged.join('\n')).not.toContain('unexpected');
  });

  test('an answer that cannot be encoded is logged and reported like any other fault, in every protocol', async () => {
    const fail = (): never => {
      throw new Error('4711 cannot be encoded');
    };
    const wrong = { value: { toString: fail, toJSON: fail } } as unknown as { value: string };
    await using server = await startEcho({
      say: () => wrong,
      async *split() {
        yield wrong;
      },
    });
    for (const [form, ask] of forms) {
      const text = decodeURIComponent(await ask(server));
      const [, reference = 'none'] = /\(reference (\w+)\)/.exec(text) ?? [];
      expect(text.replaceAll(reference, ''), form).not.toMatch(/4711|encode|StringValue/);
      expect(
        server.logged.filter((line) => line.includes(reference) && line.includes('encode')),
        `${form}: ${text}`,
      ).toHaveLength(1);
    }
  });
});

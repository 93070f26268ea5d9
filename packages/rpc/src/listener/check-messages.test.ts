import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { expect, test } from 'vitest';
import { envelope, rawCall } from '../../test/raw-call.ts';
import { type Principal, startEcho } from '../../test/start-echo.ts';
import { serve } from '../server.ts';

const service = '/platform.test.v1.EchoService';

/** 4 MiB of unknown fields of two bytes each, and a JSON text with as many elements. */
const flood = Buffer.alloc(4 * 1024 * 1024, Uint8Array.from([0x78, 1]));
const jsonFlood = Buffer.from(`{"value": [${'1,'.repeat(100_000)}1]}`);

const compressions: Readonly<Record<string, (bytes: Uint8Array) => Buffer>> = {
  identity: (bytes) => Buffer.from(bytes),
  gzip: (bytes) => gzipSync(bytes, { level: 1 }),
  br: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};

const unary = ['application/grpc', 'application/grpc-web+proto', 'application/proto', 'application/json'];
const streamed = [
  'application/grpc',
  'application/grpc+json',
  'application/grpc-web+proto',
  'application/connect+proto',
  'application/connect+json',
];
const calls = [
  ...unary.map((contentType) => ['Say', contentType] as const),
  ...['Join', 'Split', 'Chat'].flatMap((method) => streamed.map((contentType) => [method, contentType] as const)),
];

test.each(calls)(
  'D48 %s over %s refuses a flood of fields before it is decoded, compressed or not',
  async (method, contentType) => {
    await using server = await startEcho();
    const place = contentType.includes('json') ? '"value"' : '"unknown field 15"';
    const isEnveloped = !/^application\/(proto|json)/.test(contentType);
    for (const [encoding, compress] of Object.entries(compressions)) {
      const bytes = compress(contentType.includes('json') ? jsonFlood : flood);
      const body = isEnveloped ? envelope(encoding === 'identity' ? 0 : 1, bytes) : bytes;
      const answer = await rawCall(server, { path: `${service}/${method}`, contentType, body, encoding });
      expect([encoding, answer.code]).toEqual([encoding, 'resource_exhausted']);
      expect(answer.message.replaceAll('\\', '')).toBe(
        `${service}/${method}: expected at most 100000 fields and elements in a message, found more in ${place}: use smaller messages`,
      );
    }
    expect(server.calls.filter(({ method: called }) => called.endsWith('Say') || called.endsWith('Split'))).toEqual([]);
  },
);

test('D48 REST refuses a flood of elements before it is decoded, compressed or not', async () => {
  let called = 0;
  const sensor = serve<typeof SensorService, Principal>(SensorService, {
    doCommand() {
      called += 1;
      return {};
    },
  });
  await using server = await startEcho({}, { services: [sensor] });
  const path = '/platform/api/v1/component/sensor/one/do_command';
  const post = (encoding: string, text: string) => {
    const body = compressions[encoding]?.(Buffer.from(text)) ?? Buffer.alloc(0);
    return rawCall(server, { path, contentType: 'application/json', body, encoding });
  };
  for (const encoding of Object.keys(compressions)) {
    expect(await post(encoding, '{"command": {"value": 1}}')).toMatchObject({ code: 'ok' });
    // Not even JSON, which a parser would say.
    const answer = await post(encoding, `{"command": {"value": [${'1,'.repeat(100_000)}`);
    expect([encoding, answer.code]).toEqual([encoding, 'resource_exhausted']);
    expect(answer.message).toContain(
      `${path}: expected at most 100000 fields and elements in a message, found more in `,
    );
  }
  expect(called).toBe(Object.keys(compressions).length);
});

test('D48 JSON has a lower limit of bytes, and a method can have lower limits', async () => {
  const limits = { 'platform.test.v1.EchoService': { maxJsonBytes: 100, maxElements: 10 } };
  await using server = await startEcho({}, { limits });
  const post = (contentType: string, body: Uint8Array) =>
    rawCall(server, { path: `${service}/Say`, contentType, body });

  expect(await post('application/json', Buffer.from(JSON.stringify('a'.repeat(100))))).toEqual({
    code: 'resource_exhausted',
    message: `${service}/Say: expected a request message of at most 100 bytes in JSON, found 102: send it in binary, or split it into several`,
  });
  // Also on the fast path, which hands it over.
  expect(await post('application/grpc', envelope(0, flood.subarray(0, 22)))).toEqual({
    code: 'resource_exhausted',
    message: `${service}/Say: expected at most 10 fields and elements in a message, found more in "unknown field 15": use smaller messages`,
  });
  expect(await post('application/grpc', envelope(0, flood.subarray(0, 20)))).toMatchObject({ code: 'ok' });
  expect(server.calls).toHaveLength(1);
});

test('D48 what needs no credentials takes 16 KiB, in streams for 1,000 messages', async () => {
  await using server = await startEcho();
  const large = envelope(0, flood.subarray(0, 20_000));
  const small = Buffer.concat(Array.from({ length: 1_001 }, () => envelope(0, Uint8Array.from([0x3a, 0]))));
  const reflection = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
  const refused = ['/grpc.health.v1.Health/Check', '/grpc.health.v1.Health/Watch', reflection];
  for (const path of [...refused, '/proto.rpc.v1.AuthService/Authenticate']) {
    const answer = await rawCall(server, { path, contentType: 'application/grpc', body: large });
    expect([path, answer.code, answer.message]).toEqual([
      path,
      'resource_exhausted',
      expect.stringContaining('expected a request message of at most 16384 bytes'),
    ]);
  }
  expect(await rawCall(server, { path: reflection, contentType: 'application/grpc', body: small })).toEqual({
    code: 'resource_exhausted',
    message: `${reflection}: expected at most 1000 messages in one stream, found more`,
  });
});

test('D48 a stream of many small messages leaves turns of the event loop to others', async () => {
  let messages = 0;
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  await using server = await startEcho({
    async join(requests) {
      turn();
      for await (const _ of requests) messages += 1;
      isOver = true;
      return { value: '' };
    },
  });
  // All of it is there before the first is read.
  const body = Buffer.alloc(5 * 20_000);
  await rawCall(server, { path: `${service}/Join`, contentType: 'application/grpc', body });

  expect(messages).toBe(20_000);
  expect(turns).toBeGreaterThan(messages / 100);
});

test('D48 unknown fields of a request are skipped, and kept where the request is passed on', async () => {
  for (const keepUnknown of [false, true]) {
    const kept: unknown[] = [];
    await using server = await startEcho(
      {
        say({ $unknown, value }) {
          kept.push($unknown?.length);
          return { value };
        },
      },
      { rules: { keepUnknown } },
    );
    for (const contentType of ['application/grpc', 'application/proto']) {
      const bytes = Uint8Array.from([0x78, 1, 0x78, 1]);
      const body = contentType === 'application/proto' ? bytes : envelope(0, bytes);
      await rawCall(server, { path: `${service}/Say`, contentType, body });
    }
    expect(kept).toEqual(keepUnknown ? [2, 2] : [undefined, undefined]);
  }
});

import { create, toBinary } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import { selfSigned } from '@platform/testkit';
import { describe, expect, test } from 'vitest';
import {
  type CutRequest,
  cutHttp1,
  cutHttp2,
  type Http1Cut,
  type Http2Cut,
  resetHttp2,
} from '../../test/cut-requests.ts';
import { say } from '../../test/echo-requests.ts';
import { type EchoServer, startEcho } from '../../test/start-echo.ts';

const join = '/platform.test.v1.EchoService/Join';

const codecs = ['application/grpc', 'application/grpc-web+proto', 'application/connect+proto'];

function enveloped(value: string): Uint8Array {
  const message = toBinary(StringValueSchema, create(StringValueSchema, { value }));
  const bytes = Buffer.alloc(5 + message.length);
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, 5);
  return bytes;
}

const certificate = await selfSigned();
const first = enveloped('first');
const words = Buffer.concat(Array.from({ length: 40 }, (_, at) => enveloped(`${at} ${'x'.repeat((at * 97) % 900)}`)));

interface JoinServer extends EchoServer {
  /** Sends one request up to the cut; resolves with how the handler saw its requests end: their number, or the fault. */
  join(send: (request: CutRequest) => Promise<unknown>, contentType: string, restBytes: number): Promise<unknown>;
}

async function startJoin(tls?: { cert: string; key: string }): Promise<JoinServer> {
  let begun = (): void => {};
  let ended = (_outcome: unknown): void => {};
  const server = await startEcho(
    {
      async join(requests) {
        let count = 0;
        try {
          for await (const _request of requests) if (++count === 1) begun();
          ended(count);
        } catch (caught) {
          ended(caught instanceof PlatformError ? `${caught.code}: ${caught.message}` : caught);
          throw caught;
        }
        return { value: `${count} words` };
      },
    },
    tls === undefined ? {} : { tls },
  );
  return {
    ...server,
    async join(send, contentType, restBytes) {
      const started = new Promise<void>((resolve) => {
        begun = resolve;
      });
      const outcome = new Promise<unknown>((resolve) => {
        ended = resolve;
      });
      const ca = tls === undefined ? {} : { ca: tls.cert };
      const rest = words.subarray(0, restBytes);
      await send({ port: server.port, ...ca, path: join, contentType, first, begun: () => started, rest });
      return outcome;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function draw<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T;
}

const cut =
  /^canceled: (expected the complete request of \/platform.test.v1.EchoService\/Join, found that the client ended it|the client disconnected before)/;

describe.each(['plaintext', 'TLS'])('requests cut by their client, under %s', (transport) => {
  const tlsOf = (): { cert: string; key: string } | undefined => (transport === 'TLS' ? certificate : undefined);

  test('I5 200 HTTP/2 request streams cut anywhere never look complete to the handler, in every codec', async () => {
    await using server = await startJoin(tlsOf());
    const cuts: readonly Http2Cut[] = ['cancel', 'session', 'socket', 'reset'];
    for (let round = 0; round < 200; round++) {
      const how = cuts[round % cuts.length] ?? 'cancel';
      const pauseMs = draw([0, 0, 1, 3]);
      const bytes = draw([0, words.length, Math.floor(Math.random() * words.length)]);
      const outcome = await server.join((request) => cutHttp2(request, how, pauseMs), draw(codecs), bytes);
      expect(outcome, `${how} after ${bytes} bytes and ${pauseMs} ms`).toMatch(cut);
    }
    for (const codec of codecs) {
      expect(await server.join((request) => cutHttp2(request, 'end', 0), codec, words.length)).toBe(41);
    }
  });

  test('I5 200 HTTP/1.1 request streams cut anywhere never look complete to the handler', async () => {
    await using server = await startJoin(tlsOf());
    const cuts: readonly Http1Cut[] = ['half close', 'socket', 'reset'];
    const whole = first.length + words.length;
    for (let round = 0; round < 200; round++) {
      const how = cuts[round % cuts.length] ?? 'socket';
      const pauseMs = draw([0, 0, 1, 3]);
      const length = draw([undefined, whole]);
      // All bytes except the one that marks the end, or only some of them.
      const bytes = draw([0, words.length - (length === undefined ? 0 : 1), Math.floor(Math.random() * words.length)]);
      const codec = draw(codecs.slice(1));
      const outcome = await server.join((request) => cutHttp1(request, how, pauseMs, length), codec, bytes);
      expect(outcome, `${how} after ${bytes} bytes and ${pauseMs} ms`).toMatch(cut);
    }
    for (const codec of codecs.slice(1)) {
      expect(await server.join((request) => cutHttp1(request, 'end', 0, undefined), codec, words.length)).toBe(41);
      expect(await server.join((request) => cutHttp1(request, 'end', 0, whole), codec, words.length)).toBe(41);
    }
  });

  test('a message that ends midway is refused, even when its client ends the stream properly', async () => {
    await using server = await startJoin(tlsOf());
    for (const codec of codecs) {
      const outcome = await server.join((request) => cutHttp2(request, 'end', 0), codec, words.length - 1);
      expect(outcome).toMatch(/^invalid_argument: .*incomplete/);
    }
  });

  test('a unary request without its end reaches no handler, even if its message is complete', async () => {
    const tls = tlsOf();
    await using server = await startEcho({}, tls === undefined ? {} : { tls });
    const begun = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
    const request = { port: server.port, path: say, begun, rest: new Uint8Array(), ...(tls && { ca: tls.cert }) };
    for (const contentType of ['application/grpc', 'application/grpc-web+proto']) {
      if (!tls) await resetHttp2({ ...request, contentType, first }, 8);
      await cutHttp2({ ...request, contentType, first }, 'session', 0);
      await cutHttp2({ ...request, contentType, first }, 'socket', 0);
    }
    const json = { ...request, contentType: 'application/json', first: Buffer.from('"hello"') };
    await cutHttp2(json, 'cancel', 0);
    await cutHttp1(json, 'half close', 0, undefined);
    await cutHttp1({ ...json, path: '/rpc/v1/authenticate', first: Buffer.from('{}') }, 'socket', 0, 3);
    expect(await cutHttp1(json, 'end', 0, undefined)).toContain('you said hello');
    expect([server.calls.length, server.signIns.count]).toEqual([1, 0]);
  });
});

test('I5 a request stream that ends by RST_STREAM counts as cut, whatever its error code, in every codec', async () => {
  await using server = await startJoin();
  for (const codec of codecs) {
    for (let code = 0; code <= 13; code++) {
      for (const bytes of [0, words.length]) {
        const outcome = await server.join((request) => resetHttp2(request, code), codec, bytes);
        expect(outcome, `code ${code} after ${bytes} bytes`).toMatch(cut);
      }
    }
  }
});

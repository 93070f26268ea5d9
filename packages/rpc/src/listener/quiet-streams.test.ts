import { once } from 'node:events';
import { request as http1 } from 'node:http';
import { connect as http2 } from 'node:http2';
import { PlatformError } from '@platform/base';
import { describe, expect, test } from 'vitest';
import { helloBytes } from '../../test/echo-requests.ts';
import { frame } from '../../test/grpc-web.ts';
import { startEcho } from '../../test/start-echo.ts';

const split = '/platform.test.v1.EchoService/Split';
const chat = '/platform.test.v1.EchoService/Chat';

const asGrpc = { type: 'application/grpc', body: frame(helloBytes) };
const asGrpcWeb = { type: 'application/grpc-web+proto', body: frame(helloBytes) };
const asConnect = { type: 'application/connect+json', body: frame(new TextEncoder().encode('"hello"')) };

/** The state when the headers arrive, and what follows them. */
interface Answer extends Disposable {
  readonly status: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly rest: Promise<{ text: string; trailers: Readonly<Record<string, unknown>> }>;
}

type Sent = typeof asGrpc;

async function overHttp2(port: number, path: string, { type, body }: Sent, token = 'token-1'): Promise<Answer> {
  const session = http2(`http://127.0.0.1:${port}`);
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': type,
    te: 'trailers',
    authorization: `Bearer ${token}`,
  });
  stream.on('error', () => {});
  stream.end(body);
  let trailers: Record<string, unknown> = {};
  stream.on('trailers', (found) => {
    trailers = found;
  });
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  const rest = (async () => {
    const text = await textOf(stream);
    return { text, trailers };
  })();
  rest.catch(() => {});
  return { status: headers[':status'], headers, rest, [Symbol.dispose]: () => session.destroy() };
}

async function overHttp1(port: number, path: string, { type, body }: Sent, token = 'token-1'): Promise<Answer> {
  const headers = { 'content-type': type, authorization: `Bearer ${token}`, origin: 'http://localhost:3000' };
  const asked = http1({ port, host: '127.0.0.1', path, method: 'POST', headers });
  asked.on('error', () => {});
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
  const rest = (async () => ({ text: await textOf(response), trailers: response.trailers }))();
  rest.catch(() => {});
  return {
    status: response.statusCode,
    headers: response.headers,
    rest,
    [Symbol.dispose]: () => {
      asked.destroy();
    },
  };
}

async function textOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1');
}

const ways = [
  ['gRPC over HTTP/2', overHttp2, asGrpc],
  ['gRPC-Web over HTTP/2', overHttp2, asGrpcWeb],
  ['gRPC-Web over HTTP/1.1', overHttp1, asGrpcWeb],
  ['Connect over HTTP/2', overHttp2, asConnect],
  ['Connect over HTTP/1.1', overHttp1, asConnect],
] as const;

describe('a stream that has nothing to send yet', () => {
  test.each(ways)('already has its headers, and later messages follow them: %s', async (_name, over, sent) => {
    const speak = Promise.withResolvers<void>();
    const quiet = async function* (): AsyncGenerator<{ value: string }, void> {
      await speak.promise;
      yield { value: 'at last' };
    };
    await using server = await startEcho({ split: quiet, chat: quiet });
    // Both directions at once need HTTP/2.
    for (const path of over === overHttp2 ? [split, chat] : [split]) {
      using answer = await over(server.port, path, sent);
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe(sent === asGrpc ? 'application/grpc+proto' : sent.type);
      if (over === overHttp1) expect(answer.headers['access-control-allow-origin']).toBe('*');
      speak.resolve();
      const { text, trailers } = await answer.rest;
      expect(text).toContain('at last');
      if (sent === asGrpc) expect(trailers['grpc-status']).toBe('0');
      if (sent === asGrpcWeb) expect(text).toContain('grpc-status: 0');
    }
  });

  test.each(ways)('still ends with its own error, and with a readable text: %s', async (_name, over, sent) => {
    const fail = Promise.withResolvers<void>();
    await using server = await startEcho({
      // biome-ignore lint/correctness/useYield: it fails before it has anything to say
      async *split() {
        await fail.promise;
        throw new PlatformError('permission_denied', 'not yours any more, 100 %');
      },
    });
    using answer = await over(server.port, split, sent);
    expect(answer.status).toBe(200);
    fail.resolve();
    const { text, trailers } = await answer.rest;
    if (sent === asGrpc) {
      expect(trailers['grpc-status']).toBe('7');
      expect(trailers['grpc-message']).toBe('not yours any more, 100 %25');
    } else if (sent === asGrpcWeb) {
      expect(text).toContain('grpc-status: 7');
    } else {
      expect(text).toContain('"code":"permission_denied"');
      expect(text).toContain('not yours any more, 100 %');
    }
  });

  test.each(ways)('is refused with its code before anything is sent: %s', async (_name, over, sent) => {
    await using server = await startEcho({
      async *split(_request, call) {
        await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
      },
    });
    using answer = await over(server.port, split, sent, 'nobody');
    const { text, trailers } = await answer.rest;
    expect(server.calls).toEqual([]);
    if (sent === asGrpc) expect(trailers['grpc-status']).toBe('16');
    if (sent === asGrpcWeb) expect(text).toContain('grpc-status: 16');
    if (sent === asConnect) expect(text).toContain('"code":"unauthenticated"');
  });

  test('a client that leaves during the quiet ends the call', async () => {
    for (const over of [overHttp1, overHttp2]) {
      const ended = Promise.withResolvers<boolean>();
      await using server = await startEcho({
        async *split(_request, call) {
          call.signal.addEventListener('abort', () => ended.resolve(true));
          await ended.promise;
        },
      });
      const answer = await over(server.port, split, asConnect);
      answer[Symbol.dispose]();
      expect(await ended.promise).toBe(true);
    }
  });
});

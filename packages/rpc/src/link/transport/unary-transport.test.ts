import { once } from 'node:events';
import { constants, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { toBinary } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { describe, expect, test } from 'vitest';
import { EchoService } from '../../../test/echo-service.ts';
import { Session } from '../connection/session.ts';
import { UnaryTransport } from './unary-transport.ts';

const readMaxBytes = 100;

function envelope(value: string, flags = 0): Buffer {
  const body = toBinary(StringValueSchema, { $typeName: 'google.protobuf.StringValue', value });
  const prefix = Buffer.alloc(5);
  prefix[0] = flags;
  prefix.writeUInt32BE(body.length, 1);
  return Buffer.concat([prefix, body]);
}

/** Answers with `parts`, then with the trailers; undefined: none. */
function answer(
  stream: ServerHttp2Stream,
  parts: readonly Uint8Array[],
  trailers?: Record<string, string>,
  head = {},
): void {
  const headers = { ':status': 200, 'content-type': 'application/grpc+proto', ...head };
  stream.respond(headers, { waitForTrailers: trailers !== undefined });
  if (trailers !== undefined) stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  for (const part of parts) stream.write(part);
  stream.end();
}

const ok = { 'grpc-status': '0' };
const answers: Readonly<Record<string, readonly [Code | 'answered', (stream: ServerHttp2Stream) => void]>> = {
  'one message': ['answered', (stream) => answer(stream, [envelope('hi')], ok)],
  'one message in two pieces': [
    'answered',
    (stream) => answer(stream, [envelope('hi').subarray(0, 3), envelope('hi').subarray(3)], ok),
  ],
  'an empty message': ['answered', (stream) => answer(stream, [Buffer.alloc(5)], ok)],
  'an error in trailers': [
    Code.ResourceExhausted,
    (stream) => answer(stream, [], { 'grpc-status': '8', 'grpc-message': 'too%20much', 'retry-after-ms': '7' }),
  ],
  'an error in headers': [
    Code.NotFound,
    (stream) => answer(stream, [], undefined, { 'grpc-status': '5', 'grpc-message': 'gone' }),
  ],
  'a message and an error': [Code.DataLoss, (stream) => answer(stream, [envelope('hi')], { 'grpc-status': '15' })],
  'no status': [Code.Internal, (stream) => answer(stream, [envelope('hi')])],
  'a non-numeric status': [Code.Internal, (stream) => answer(stream, [envelope('hi')], { 'grpc-status': 'x' })],
  'no message': [Code.Unimplemented, (stream) => answer(stream, [], ok)],
  'two messages': [Code.Unimplemented, (stream) => answer(stream, [envelope('a'), envelope('b')], ok)],
  'a compressed message': [Code.Internal, (stream) => answer(stream, [envelope('hi', 1)], ok)],
  'half a message': [Code.InvalidArgument, (stream) => answer(stream, [envelope('hello').subarray(0, 7)], ok)],
  'an invalid message': [Code.Internal, (stream) => answer(stream, [Buffer.from([0, 0, 0, 0, 1, 255])], ok)],
  'a message over the limit': [
    Code.ResourceExhausted,
    (stream) => answer(stream, [envelope('x'.repeat(readMaxBytes + 1))], ok),
  ],
  'HTTP 503': [
    Code.Unavailable,
    (stream) => answer(stream, [Buffer.from('busy')], undefined, { ':status': 503, 'content-type': 'text/plain' }),
  ],
  'a page instead of gRPC': [
    Code.Unknown,
    (stream) => answer(stream, [Buffer.from('<p>')], undefined, { 'content-type': 'text/html' }),
  ],
  'a refused stream': [Code.Unavailable, (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM)],
  'a stream that the server cancels': [Code.Canceled, (stream) => stream.close(constants.NGHTTP2_CANCEL)],
  'a busy connection': [Code.Internal, (stream) => stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)],
};

/** The outcome of a call, with the headers and trailers that its caller sees. */
async function outcome(transport: Transport, signal?: AbortSignal, timeoutMs?: number): Promise<object> {
  try {
    const { message, header, trailer } = await transport.unary(EchoService.method.say, signal, timeoutMs, {}, {});
    return { code: 'answered', message, type: header.get('content-type'), status: trailer.get('grpc-status') };
  } catch (caught) {
    if (!(caught instanceof ConnectError)) throw caught;
    return { code: caught.code, delay: caught.metadata.get('retry-after-ms'), said: caught.rawMessage };
  }
}

async function transports(reply: (stream: ServerHttp2Stream) => void) {
  const stack = new AsyncDisposableStack();
  const server = createServer();
  server.on('stream', (stream) => {
    // A reset is also an error on this side.
    stream.on('error', () => {});
    reply(stream);
  });
  server.on('session', (session) => stack.defer(() => session.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => void server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const session = new Session({ authority: baseUrl });
  stack.defer(() => session.close());
  const inner = createGrpcTransport({ baseUrl, sessionManager: session, readMaxBytes, acceptCompression: [] });
  const own = new UnaryTransport({ inner, session, readMaxBytes, recursionLimit: 100, maxElements: 100 });
  return { own, inner, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe('a unary call', () => {
  test.each(Object.entries(answers))('handles %s as Connect does', async (_name, [code, reply]) => {
    await using both = await transports(reply);
    const [own, inner] = [await outcome(both.own), await outcome(both.inner)];
    expect(own).toMatchObject({ code });
    expect(own).toEqual(inner);
  });

  test('ends at its deadline and by its signal, before it starts and while it runs', async () => {
    const leave = new AbortController();
    let isLeft = false;
    await using both = await transports(() => {
      if (isLeft) leave.abort();
    });
    expect(await outcome(both.own, undefined, 20)).toMatchObject({ code: Code.DeadlineExceeded });
    expect(await outcome(both.own, AbortSignal.abort())).toMatchObject({ code: Code.Canceled });
    isLeft = true;
    expect(await outcome(both.own, leave.signal)).toMatchObject({ code: Code.Canceled });
  });
});

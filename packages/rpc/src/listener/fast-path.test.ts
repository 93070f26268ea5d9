import { connect, type IncomingHttpHeaders } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { create, toBinary } from '@bufbuild/protobuf';
import { StringValueSchema } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import { describe, expect, test } from 'vitest';
import { say } from '../../test/echo-requests.ts';
import { type EchoServer, startEcho } from '../../test/start-echo.ts';

const maxMessageBytes = 200_000;

interface Sent {
  readonly body: readonly Uint8Array[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

const message = (text: string): Uint8Array => toBinary(StringValueSchema, create(StringValueSchema, { value: text }));

function envelope(bytes: Uint8Array, flags = 0, announced = bytes.length): Buffer {
  const head = Buffer.alloc(5, flags);
  head.writeUInt32BE(announced, 1);
  return Buffer.concat([head, bytes]);
}

const whole = envelope(message('hello'));

const requests: Readonly<Record<string, Sent>> = {
  'an ordinary request': { body: [whole] },
  'the alias of a path': { body: [whole], path: say.replace('platform', 'viam') },
  'an empty body': { body: [] },
  'an empty message': { body: [envelope(new Uint8Array())] },
  'half an envelope': { body: [whole.subarray(0, 3)] },
  'half a message': { body: [whole.subarray(0, 8)] },
  'two messages': { body: [Buffer.concat([whole, whole])] },
  'a message and half of another': { body: [Buffer.concat([whole, whole.subarray(0, 2)])] },
  'an invalid message': { body: [envelope(Uint8Array.of(0xff, 0xff))] },
  'unexpected flags': { body: [envelope(message('hello'), 1)] },
  'a message over the limit': { body: [envelope(message('x'.repeat(maxMessageBytes)))] },
  'an announced length over the limit': { body: [envelope(message('hello'), 0, 2 ** 31)] },
  'a long message': { body: [envelope(message('x'.repeat(100_000)))] },
  'a body in many pieces': { body: [...whole].map((byte) => Uint8Array.of(byte)) },
  'a compressed message': { body: [envelope(gzipSync(message('hello')), 1)], headers: { 'grpc-encoding': 'gzip' } },
  'an unknown compression': { body: [whole], headers: { 'grpc-encoding': 'snappy' } },
  'a short answer to one who takes gzip': {
    body: [whole],
    headers: { 'grpc-accept-encoding': 'identity,deflate,gzip' },
  },
  'a long answer to one who takes gzip': {
    body: [envelope(message('x'.repeat(5_000)))],
    headers: { 'grpc-accept-encoding': 'gzip' },
  },
  'no token': { body: [whole], headers: { authorization: '' } },
  'a wrong token': { body: [whole], headers: { authorization: 'Bearer other' } },
  'a deadline that holds': { body: [whole], headers: { 'grpc-timeout': '10S' } },
  'a deadline that passes': { body: [envelope(message('wait'))], headers: { 'grpc-timeout': '50m' } },
  'a deadline of nothing': { body: [envelope(message('wait'))], headers: { 'grpc-timeout': '0m' } },
  'an invalid deadline': { body: [whole], headers: { 'grpc-timeout': 'soon' } },
  'an error that the method foresaw': { body: [envelope(message('refuse'))] },
  'an unexpected error': { body: [envelope(message('break'))] },
  'headers and trailers of the method': { body: [envelope(message('headers'))] },
};

async function start(): Promise<EchoServer> {
  return await startEcho(
    {
      async say({ value }, call) {
        if (value === 'wait') await new Promise(() => {});
        if (value === 'refuse') throw new PlatformError('failed_precondition', 'expected ünicode, 100 % of it');
        if (value === 'break') throw new TypeError('not foreseen');
        if (value === 'headers') {
          call.responseHeaders.set('x-first', 'one');
          call.responseTrailers.set('x-last', 'two');
        }
        const metadata = [...call.metadata].filter(([name]) => name !== 'content-type');
        return { value: JSON.stringify([value, call.vocabulary, call.deadline !== undefined, metadata]) };
      },
    },
    { maxMessageBytes },
  );
}

/** The answer, without what differs from call to call. */
async function answerOf(
  server: EchoServer,
  contentType: string,
  { body, headers = {}, path = say }: Sent,
): Promise<object> {
  const session = connect(server.url);
  const answer = { headers: {}, trailers: {}, body: '' };
  const plain = ({ date: _date, ...rest }: IncomingHttpHeaders): object =>
    JSON.parse(JSON.stringify(rest).replace(/reference(%20| )[^)%]+/, 'reference …'));
  try {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': contentType,
      te: 'trailers',
      authorization: 'Bearer token-1',
      ...headers,
    });
    stream.on('response', (found) => Object.assign(answer, { headers: plain(found) }));
    stream.on('trailers', (found) => Object.assign(answer, { trailers: plain(found) }));
    stream.on('data', (chunk: Buffer) => Object.assign(answer, { body: answer.body + chunk.toString('hex') }));
    stream.on('error', () => {});
    for (const piece of body) {
      stream.write(piece);
      // It answers once it has read the piece.
      if (body.length > 1) await new Promise<void>((resolve) => session.ping(() => resolve()));
    }
    stream.end();
    await new Promise((resolve) => stream.once('close', resolve));
    return answer;
  } finally {
    session.destroy();
  }
}

describe('the fast path of gRPC', () => {
  // Codecs recognise the content type in any spelling; the fast path only as gRPC clients spell it.
  test.each(Object.entries(requests))('answers %s as the general path does', async (_name, sent) => {
    await using server = await start();
    const short = await answerOf(server, 'application/grpc', sent);
    const general = await answerOf(server, 'application/gRPC', sent);
    expect(short).toEqual(general);
    expect(short).toMatchObject({ headers: { ':status': 200 } });
  });

  test('the signal of a call is aborted once it is answered, and when its client leaves', async () => {
    const left = Promise.withResolvers<AbortSignal>();
    await using server = await startEcho({
      async say({ value }, call) {
        if (value !== 'stay') return { value };
        left.resolve(call.signal);
        return await new Promise(() => {});
      },
    });
    await answerOf(server, 'application/grpc', { body: [whole] });
    await expect.poll(() => server.calls[0]?.signal.aborted).toBe(true);

    const session = connect(server.url);
    session.on('error', () => {});
    const stream = session.request({
      ':method': 'POST',
      ':path': say,
      'content-type': 'application/grpc',
      authorization: 'Bearer token-1',
    });
    stream.on('error', () => {});
    stream.end(envelope(message('stay')));
    const signal = await left.promise;
    expect(signal.aborted).toBe(false);
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    session.destroy();
    await aborted;
  });
});

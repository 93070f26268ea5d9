/** Requests that no honest client makes, in frames of HTTP/2 that are correct; and bytes that are not HTTP/2. */
import { gzipSync } from 'node:zlib';
import {
  dataFrame,
  envelope,
  type Frame,
  flags,
  frameTypes,
  type HeaderLines,
  headersFrame,
  uint32,
} from './frames.ts';

export interface RequestParts {
  readonly path: string;
  readonly headers?: HeaderLines;
  /** With its prefix. */
  readonly body?: Uint8Array;
  /** In place of the pseudo headers. */
  readonly pseudo?: HeaderLines;
}

export function requestFrames({ path, headers = [], body = envelope(Buffer.alloc(0)), pseudo }: RequestParts): Frame[] {
  const lines: HeaderLines = [
    ...(pseudo ?? [
      [':method', 'POST'],
      [':scheme', 'http'],
      [':authority', 'localhost'],
      [':path', path],
    ]),
    ...(headers.some(([name]) => name === 'content-type') ? [] : [['content-type', 'application/grpc'] as const]),
    ['te', 'trailers'],
    ...headers,
  ];
  return [headersFrame(lines), dataFrame(body, { flags: flags.endStream })];
}

const noise = Buffer.from('f3a90bff07c401d2ff8812fa00e6', 'hex');
const on = (frames: readonly Frame[], stream: number): Frame[] => frames.map((frame) => ({ ...frame, stream }));

type Kinds = Readonly<Record<string, readonly Frame[]>>;
type Request = (more: Partial<RequestParts>) => Frame[];

/** By name. @param path of a method, such as `/package.Service/Method` */
export function hostileRequests(path: string): Kinds {
  const request: Request = (more) => requestFrames({ path, ...more });
  const begun = request({}).slice(0, 1);
  return {
    ...ofStreams(request, begun),
    ...ofBodies(request, begun),
    ...ofHeaders(request),
    ...ofPseudoHeaders(request, path),
  };
}

/** @param begun a request without its body */
function ofStreams(request: Request, begun: readonly Frame[]): Kinds {
  const reset = (stream: number): Frame => ({ type: frameTypes.reset, flags: 0, stream, payload: uint32(8) });
  return {
    'a thousand requests that are reset': Array.from({ length: 1_000 }, (_, at) => [
      ...on(begun, 2 * at + 1),
      reset(2 * at + 1),
    ]).flat(),
    'two thousand requests at once': Array.from({ length: 2_000 }, (_, at) => on(request({}), 2 * at + 1)).flat(),
    'two thousand requests without end': Array.from({ length: 2_000 }, (_, at) => on(begun, 2 * at + 1)).flat(),
    'the same stream twice': [...request({}), ...request({})],
    'streams in descending order': [...on(request({}), 9), ...on(request({}), 3)],
    'a request on an even stream': on(request({}), 2),
  };
}

function ofBodies(request: Request, begun: readonly Frame[]): Kinds {
  return {
    'a body that is not ended': request({}).map((frame) => ({ ...frame, flags: frame.flags & ~flags.endStream })),
    'no body': begun.map((frame) => ({ ...frame, flags: flags.endHeaders | flags.endStream })),
    'half a prefix': request({ body: Buffer.from([0, 0, 0]) }),
    'a length that is too long': request({ body: envelope(noise, 0, 100) }),
    'a length that is too short': request({ body: envelope(noise, 0, 3) }),
    'a length of 4 GiB': request({ body: envelope(noise, 0, 2 ** 32 - 1) }),
    'every flag': request({ body: envelope(noise, 255) }),
    'compressed without encoding': request({ body: envelope(gzipSync(noise), 1) }),
    'not compressed, as stated': request({ headers: [['grpc-encoding', 'gzip']], body: envelope(noise, 1) }),
    'zeros in gzip': request({
      headers: [['grpc-encoding', 'gzip']],
      body: envelope(gzipSync(Buffer.alloc(10_000_000)), 1),
    }),
    'a message of noise': request({ body: envelope(noise) }),
    'three thousand empty messages': request({ body: Buffer.alloc(15_000) }),
    'trailers of a request': [
      ...begun,
      headersFrame([['grpc-status', '0']], { flags: flags.endHeaders | flags.endStream }),
    ],
  };
}

function ofHeaders(request: Request): Kinds {
  return {
    ...Object.fromEntries(
      ['', '0', '-1S', '99999999H', '999999999999S', '1x', 'NaN', '1n'].map((limit) => [
        `a time limit of "${limit}"`,
        request({ headers: [['grpc-timeout', limit]] }),
      ]),
    ),
    ...Object.fromEntries(
      [
        ...['application/grpc+json', 'application/grpc-web', 'application/grpc-web-text', 'application/json'],
        ...[
          'application/connect+proto',
          'application/proto',
          'text/html',
          'multipart/form-data; boundary=x',
          '\x01',
          '',
        ],
      ].map((type) => [`content type "${type}"`, request({ headers: [['content-type', type]] })]),
    ),
    'tokens of every kind': request({
      headers: ['Bearer', 'Bearer ', 'Basic %%', 'Bearer a.b.c', '\xff'].map((value) => ['authorization', value]),
    }),
    'binary headers that are not base64': request({
      headers: [
        ['x-bin', '\x80!'],
        ['grpc-trace-bin', '==='],
      ],
    }),
    'two lengths': request({
      headers: [
        ['content-length', '1'],
        ['content-length', '2'],
      ],
    }),
    'a length that is not a number': request({ headers: [['content-length', 'x']] }),
    'a length that is wrong': request({ headers: [['content-length', '1000000']] }),
  };
}

function ofPseudoHeaders(request: Request, path: string): Kinds {
  const pseudo = (method: string, at: string, authority = 'localhost'): HeaderLines => [
    [':method', method],
    [':scheme', 'http'],
    [':authority', authority],
    [':path', at],
  ];
  return {
    ...Object.fromEntries(
      ['GET', 'CONNECT', 'OPTIONS', 'PRI', 'TRACE', '', 'A B', '\xff'].map((method) => [
        `the method "${method}"`,
        request({ pseudo: pseudo(method, path) }),
      ]),
    ),
    ...Object.fromEntries(
      [
        ...[
          '',
          '*',
          'x',
          '//',
          '/../../etc/passwd',
          '/%',
          '/%zz',
          '/\xff',
          '/a b',
          `/${'a/'.repeat(4_000)}`,
          '/?',
          '/#',
        ],
        ...['http://other.example/', '/grpc.health.v1.Health/', '/.', '/api/%2e%2e/%00'],
      ].map((at) => [`the path "${at.slice(0, 30)}"`, request({ pseudo: pseudo('POST', at) })]),
    ),
    ...Object.fromEntries(
      ['', '[', 'a:b:c', 'x'.repeat(8_000), '\x7f', 'user:password@host', '..'].map((authority) => [
        `the host "${authority.slice(0, 20)}"`,
        request({ pseudo: pseudo('POST', path, authority) }),
      ]),
    ),
    'no pseudo headers': request({ pseudo: [] }),
    'a path twice': request({ pseudo: [...pseudo('POST', path), [':path', '/']] }),
    'an answer': request({ pseudo: [[':status', '200']] }),
    'a WebSocket over HTTP/2': request({ pseudo: [...pseudo('CONNECT', path), [':protocol', 'websocket']] }),
  };
}

const lines = (...each: string[]): Buffer => Buffer.from(`${each.join('\r\n')}\r\n\r\n`, 'latin1');

/** Bytes of other protocols, for either side. */
export const otherProtocols: Readonly<Record<string, Uint8Array>> = {
  'an answer of HTTP/1.1': lines('HTTP/1.1 400 Bad Request', 'content-length: 0'),
  'a redirect of HTTP/1.1': lines('HTTP/1.1 301 Moved', 'location: http://192.0.2.1/'),
  'an answer of HTTP/1.1 without end': Buffer.concat([
    lines('HTTP/1.1 200 OK', 'transfer-encoding: chunked'),
    Buffer.alloc(100_000, 'f\r\n'),
  ]),
  'a TLS alert': Buffer.from([0x15, 3, 1, 0, 2, 2, 0x28]),
  'a TLS hello': Buffer.concat([Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]), Buffer.alloc(505, 7)]),
  'TLS of 64 KiB': Buffer.concat([Buffer.from([0x16, 3, 1, 0xff, 0xff]), Buffer.alloc(65_535, 1)]),
  'a greeting of SSH': Buffer.from('SSH-2.0-OpenSSH_9.2\r\n'),
  'a greeting of SMTP': Buffer.from('220 mail.example ESMTP\r\n'),
  zeros: Buffer.alloc(100_000),
  ones: Buffer.alloc(100_000, 0xff),
  'line breaks': Buffer.alloc(100_000, '\r\n'),
  'one byte': Buffer.from([0x50]),
  nothing: Buffer.alloc(0),
  'half the preface': Buffer.from('PRI * HTTP/2.0\r\n\r\nSM'),
  'the preface alone': Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  'another preface': Buffer.from('PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n'),
  'a request of HTTP/1.1': lines('GET / HTTP/1.1', 'host: x'),
  'a request without host': lines('GET / HTTP/1.1'),
  'an upgrade to HTTP/2': lines(
    'GET / HTTP/1.1',
    'host: x',
    'connection: upgrade, http2-settings',
    'upgrade: h2c',
    'http2-settings: AAMAAABk',
  ),
  'an upgrade to WebSocket, and its frames': Buffer.concat([
    lines(
      'GET /live HTTP/1.1',
      'host: x',
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
    ),
    Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4]),
  ]),
  'an answer of WebSocket, and its frames': Buffer.concat([
    lines('HTTP/1.1 101 Switching Protocols', 'connection: upgrade', 'upgrade: websocket'),
    Buffer.from([0x82, 0x7f, 0, 0, 0, 1, 0, 0, 0, 0]),
  ]),
  'chunks that lie': Buffer.concat([
    lines(
      'POST /grpc.health.v1.Health/Check HTTP/1.1',
      'host: x',
      'content-type: application/grpc-web+proto',
      'transfer-encoding: chunked',
    ),
    Buffer.from('ffffffffffffffff\r\nx\r\n'),
  ]),
  'chunks and a length': Buffer.concat([
    lines('POST / HTTP/1.1', 'host: x', 'transfer-encoding: chunked', 'content-length: 5'),
    Buffer.from('0\r\n\r\nGET / HTTP/1.1\r\n\r\n'),
  ]),
  'a length without a body': lines(
    'POST /grpc.health.v1.Health/Check HTTP/1.1',
    'host: x',
    'content-type: application/proto',
    'content-length: 1000000',
  ),
  'a negative length': lines('POST / HTTP/1.1', 'host: x', 'content-length: -1'),
  'a thousand requests in a row': Buffer.concat(
    Array.from({ length: 1_000 }, () => lines('GET /nothing HTTP/1.1', 'host: x')),
  ),
  'headers of 1 MiB': lines('GET / HTTP/1.1', `x: ${'y'.repeat(1_048_576)}`),
  'ten thousand headers': lines('GET / HTTP/1.1', 'host: x', ...Array.from({ length: 10_000 }, (_, at) => `h${at}: x`)),
  'a header name of zeros': lines('GET / HTTP/1.1', 'host: x', '\0\0\0: y'),
  'a method that is none': lines('\xff\xfe / HTTP/1.1', 'host: x'),
  'a request of HTTP/0.9': Buffer.from('GET /\r\n'),
  'a request through a proxy': lines('CONNECT 192.0.2.1:443 HTTP/1.1', 'host: 192.0.2.1:443'),
  'a PROXY line': Buffer.from('PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n'),
};

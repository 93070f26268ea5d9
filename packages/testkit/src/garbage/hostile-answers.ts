/** Answers to a gRPC call that no honest server gives, in frames of HTTP/2 that are correct. */
import { constants, crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { dataFrame, envelope, type Frame, flags, type HeaderLines, headersFrame } from './frames.ts';

const head: HeaderLines = [
  [':status', '200'],
  ['content-type', 'application/grpc+proto'],
];
const ok: HeaderLines = [['grpc-status', '0']];
const end = { flags: flags.endHeaders | flags.endStream };

export interface AnswerParts {
  readonly head?: HeaderLines;
  /** With its prefixes. */
  readonly body?: Uint8Array;
  readonly trailers?: HeaderLines;
}

export function answerFrames({
  head: lines = head,
  body = envelope(Buffer.alloc(0)),
  trailers = ok,
}: AnswerParts): Frame[] {
  const pieces: Frame[] = [];
  for (let at = 0; at < body.length; at += 16_384) pieces.push(dataFrame(body.subarray(at, at + 16_384)));
  return [headersFrame(lines), ...pieces, headersFrame(trailers, end)];
}

const withStatus = (...values: string[]): HeaderLines => values.map((value) => ['grpc-status', value] as const);
const noise = Buffer.from('f3a90bff07c401d2ff8812fa00e6', 'hex');
const nested = Buffer.alloc(60_000, 0x0b);
const zeros = gzipOfZeros(48);
const encodings = ['gzip', 'br', 'deflate', 'snappy', 'nothing', 'gzip, gzip'];

/** By name. */
export const hostileAnswers: Readonly<Record<string, readonly Frame[]>> = {
  'an error in the first headers': [headersFrame([...head, ['grpc-status', '3'], ['grpc-message', 'no']], end)],
  'OK without a message': [headersFrame([...head, ...ok], end)],
  'no trailers': [headersFrame(head), dataFrame(envelope(Buffer.alloc(0)), { flags: flags.endStream })],
  'trailers that do not end': [headersFrame(head), dataFrame(envelope(Buffer.alloc(0))), headersFrame(ok)],
  'trailers twice': [...answerFrames({}).slice(0, 2), headersFrame(ok), headersFrame(ok, end)],
  'a status of headers and another of trailers': answerFrames({ head: [...head, ['grpc-status', '13']], trailers: ok }),
  'the answer twice': [...answerFrames({}), ...answerFrames({})],
  'two messages': answerFrames({ body: Buffer.concat([envelope(Buffer.alloc(0)), envelope(Buffer.alloc(0))]) }),
  'a hundred thousand empty messages': answerFrames({ body: Buffer.alloc(500_000) }),
  'no body': answerFrames({ body: Buffer.alloc(0) }),
  'half a prefix': answerFrames({ body: Buffer.from([0, 0, 0]) }),
  'a length that is too long': answerFrames({ body: envelope(noise, 0, 100) }),
  'a length that is too short': answerFrames({ body: envelope(noise, 0, 3) }),
  'a length of 4 GiB': answerFrames({ body: envelope(noise, 0, 2 ** 32 - 1) }),
  'every flag': answerFrames({ body: envelope(noise, 255) }),
  'the flag of trailers in a body': answerFrames({ body: envelope(Buffer.from('grpc-status: 0\r\n'), 128) }),
  'compressed without encoding': answerFrames({ body: envelope(gzipSync(noise), 1) }),
  ...Object.fromEntries(
    encodings.map((encoding) => [
      `48 MiB of zeros in ${encoding}`,
      answerFrames({ head: [...head, ['grpc-encoding', encoding]], body: envelope(zeros, 1) }),
    ]),
  ),
  'a message of noise': answerFrames({ body: envelope(noise) }),
  'groups without end': answerFrames({ body: envelope(nested) }),
  ...Object.fromEntries(
    ['-1', '17', '99999999999999999999', 'NaN', '', '0x0', ' 0', '0,0', '1e1'].map((status) => [
      `status "${status}"`,
      answerFrames({ trailers: withStatus(status) }),
    ]),
  ),
  'two statuses': answerFrames({ trailers: withStatus('0', '5') }),
  'a text that is not percent-encoded': answerFrames({
    trailers: [
      ['grpc-status', '13'],
      ['grpc-message', '%%%zz%f'],
    ],
  }),
  'a text of half a character': answerFrames({
    trailers: [
      ['grpc-status', '13'],
      ['grpc-message', '%ed%a0%80%ff'],
    ],
  }),
  'a text of 15 KiB': answerFrames({
    trailers: [
      ['grpc-status', '13'],
      ['grpc-message', 'x'.repeat(15_000)],
    ],
  }),
  'details that are not base64': answerFrames({
    trailers: [
      ['grpc-status', '13'],
      ['grpc-status-details-bin', '\x80!!'],
    ],
  }),
  'details of noise': answerFrames({
    trailers: [
      ['grpc-status', '13'],
      ['grpc-status-details-bin', noise.toString('base64')],
    ],
  }),
  'details that say OK': answerFrames({
    trailers: [
      ['grpc-status', '13'],
      ['grpc-status-details-bin', 'CAA'],
    ],
  }),
  ...Object.fromEntries(
    ['-1', '1e300', 'NaN', '999999999999999999'].map((wait) => [
      `a wait of ${wait} ms`,
      answerFrames({
        trailers: [
          ['grpc-status', '14'],
          ['grpc-retry-pushback-ms', wait],
        ],
      }),
    ]),
  ),
  ...Object.fromEntries(
    [
      '100',
      '101',
      '103',
      '199',
      '204',
      '302',
      '304',
      '401',
      '418',
      '500',
      '503',
      '999',
      '1000',
      '0',
      '-1',
      'x',
      '',
    ].map((status) => [
      `HTTP status ${status}`,
      answerFrames({
        head: [
          [':status', status],
          ['content-type', 'application/grpc'],
        ],
      }),
    ]),
  ),
  'a thousand informational answers': [
    ...Array.from({ length: 1_000 }, () => headersFrame([[':status', '103']])),
    ...answerFrames({}),
  ],
  'no HTTP status': answerFrames({ head: [['content-type', 'application/grpc']] }),
  'two HTTP statuses': answerFrames({
    head: [
      [':status', '200'],
      [':status', '500'],
      ['content-type', 'application/grpc'],
    ],
  }),
  ...Object.fromEntries(
    [
      'text/html',
      'application/json',
      'application/grpc-web',
      'application/grpc+json',
      'application/grpcx',
      '',
      '\x01',
    ].map((type) => [
      `content type "${type}"`,
      answerFrames({
        head: [
          [':status', '200'],
          ['content-type', type],
        ],
      }),
    ]),
  ),
  'a length of the body that is wrong': answerFrames({ head: [...head, ['content-length', '3']] }),
};

/** One stream of gzip, of which one MiB is compressed: every test process loads this file, and 48 MiB took it 0.4 s. */
function gzipOfZeros(mebibytes: number): Buffer {
  const mebibyte = Buffer.alloc(1024 * 1024);
  // Without references to what comes before it, and without the end of the stream, which follows the last one.
  const block = deflateRawSync(mebibyte, { level: 1, finishFlush: constants.Z_FULL_FLUSH });
  const trailer = Buffer.alloc(8);
  let checksum = 0;
  for (let nth = 0; nth < mebibytes; nth++) checksum = crc32(mebibyte, checksum);
  trailer.writeUInt32LE(checksum);
  trailer.writeUInt32LE(mebibytes * mebibyte.length, 4);
  const [header, last] = [Buffer.from('1f8b0800000000000003', 'hex'), Buffer.from('0300', 'hex')];
  return Buffer.concat([header, ...Array.from({ length: mebibytes }, () => block), last, trailer]);
}

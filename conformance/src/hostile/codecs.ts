/** How an attacker sends a message: each protocol of the port, over HTTP/2 and HTTP/1.1, compressed and not. */
import { gzipSync } from 'node:zlib';

export interface Codec {
  readonly http: 1 | 2;
  readonly isJson: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: (message: Buffer) => Buffer;
}

function enveloped(message: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const zipped = (message: Buffer): Buffer => gzipSync(message, { level: 1 });
const plain = (message: Buffer): Buffer => message;
const grpc = { 'content-type': 'application/grpc', te: 'trailers' };
const connect = { 'connect-protocol-version': '1' };

/** By name. */
export const codecs: Readonly<Record<string, Codec>> = {
  gRPC: { http: 2, isJson: false, headers: grpc, body: enveloped },
  'gRPC, gzip': {
    ...{ http: 2, isJson: false, headers: { ...grpc, 'grpc-encoding': 'gzip' } },
    body: (message) => enveloped(zipped(message), 1),
  },
  // As many empty messages as fit: streams take them, other methods refuse the second.
  'gRPC, small messages': {
    ...{ http: 2, isJson: false, headers: grpc },
    body: ({ length }) => Buffer.alloc(length - (length % 5)),
  },
  'gRPC-Web': { http: 1, isJson: false, headers: { 'content-type': 'application/grpc-web+proto' }, body: enveloped },
  Connect: { http: 1, isJson: false, headers: { ...connect, 'content-type': 'application/proto' }, body: plain },
  'Connect, gzip': {
    ...{ http: 2, isJson: false, body: zipped },
    headers: { ...connect, 'content-type': 'application/proto', 'content-encoding': 'gzip' },
  },
  'Connect, stream': {
    ...{ http: 2, isJson: false, body: enveloped },
    headers: { ...connect, 'content-type': 'application/connect+proto' },
  },
  JSON: { http: 1, isJson: true, headers: { ...connect, 'content-type': 'application/json' }, body: plain },
  'JSON, gzip': {
    ...{ http: 2, isJson: true, body: zipped },
    headers: { ...connect, 'content-type': 'application/json', 'content-encoding': 'gzip' },
  },
  'JSON, stream': {
    ...{ http: 2, isJson: true, body: enveloped },
    headers: { ...connect, 'content-type': 'application/connect+json' },
  },
};

/** Calls with bodies that no client library would send, over HTTP/2. */
import { connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { codes } from '@platform/base';
import type { EchoServer } from './start-echo.ts';

/** @param length as the prefix states it */
export function envelope(flags: number, message: Uint8Array, length: number = message.length): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flags);
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, message]);
}

export interface RawCall {
  readonly path: string;
  readonly contentType: string;
  readonly body: Uint8Array;
  /** The compression that the request declares. */
  readonly encoding?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RawAnswer {
  /** The code with which the call ended, whatever its protocol. */
  readonly code: string;
  readonly message: string;
}

export async function rawCall(server: EchoServer, call: RawCall): Promise<RawAnswer> {
  const { path, contentType, body, encoding, headers } = call;
  const enveloped = contentType.includes('connect') ? 'connect-content-encoding' : 'grpc-encoding';
  const encodingHeader = /^application\/(proto|json)/.test(contentType) ? 'content-encoding' : enveloped;
  const session = connect(server.url);
  session.on('error', () => {});
  try {
    const stream = session.request({
      ...{ ':method': 'POST', ':path': path, 'content-type': contentType },
      ...{ authorization: 'Bearer token-1', te: 'trailers' },
      ...(encoding && { [encodingHeader]: encoding }),
      ...headers,
    });
    const found: Record<string, unknown> = {};
    stream.on('error', () => {});
    stream.on('response', (headers) => Object.assign(found, headers));
    stream.on('trailers', (trailers) => Object.assign(found, trailers));
    stream.end(body);
    const answer = await text(stream);
    const status = found['grpc-status'] ?? /grpc-status: ?(\d+)/.exec(answer)?.[1];
    if (status === undefined) {
      const code = /"code":"?(\w+)"?/.exec(answer)?.[1];
      const message = /"message":"((?:[^"\\]|\\.)*)"/.exec(answer)?.[1] ?? '';
      return { code: nameOf(code) ?? (found[':status'] === 200 ? 'ok' : `no status in ${answer}`), message };
    }
    const message = found['grpc-message'] ?? /grpc-message: ?([^\r\n]*)/.exec(answer)?.[1] ?? '';
    return { code: nameOf(String(status)) ?? 'ok', message: decodeURIComponent(String(message)) };
  } finally {
    session.destroy();
  }
}

/** @param code a name or a number; 0: none */
function nameOf(code: string | undefined): string | undefined {
  return Object.entries(codes).find(([name, number]) => name === code || String(number) === code)?.[0];
}

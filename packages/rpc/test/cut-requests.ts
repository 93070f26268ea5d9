/** Sends the beginning of a request and then cuts it, by hand, over HTTP/2 and HTTP/1.1, in plaintext and under TLS. */
import { connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';

export interface CutRequest {
  readonly port: number;
  /** PEM; absent: plaintext. */
  readonly ca?: string;
  readonly path: string;
  readonly contentType: string;
  /** Sent first; the rest is sent only after `begun` resolves. */
  readonly first: Uint8Array;
  readonly begun: () => Promise<unknown>;
  readonly rest: Uint8Array;
  /** Keeps writing until it is disposed, which happens when the connection is gone. */
  readonly drip?: (write: (bytes: Uint8Array) => void) => Disposable;
}

/** How an HTTP/2 client ends the request; `end` is the proper way, END_STREAM; `none`: it sends nothing more and waits. */
export type Http2Cut = 'cancel' | 'session' | 'socket' | 'reset' | 'end' | 'none';

const headers = { authorization: 'Bearer token-1', te: 'trailers' };

/** Resolves with the status of the answer, if any, once the stream is gone. */
export async function cutHttp2(request: CutRequest, cut: Http2Cut, pauseMs: number): Promise<unknown> {
  const { port, ca, path, contentType } = request;
  const { socket, reset } = dial(port, ca, ['h2']);
  const session = connectHttp2(`${ca === undefined ? 'http' : 'https'}://localhost:${port}`, {
    createConnection: () => socket,
  });
  session.on('error', () => {});
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': contentType, ...headers });
  stream.on('error', () => {});
  stream.resume();
  let status: unknown;
  stream.on('trailers', (trailers) => {
    status = trailers['grpc-status'];
  });
  stream.write(request.first);
  await request.begun();
  if (request.rest.length > 0) stream.write(request.rest);
  if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  if (cut === 'cancel') stream.close(constants.NGHTTP2_CANCEL);
  else if (cut === 'session') session.destroy();
  else if (cut === 'socket') socket.destroy();
  else if (cut === 'reset') reset();
  else if (cut === 'end') stream.end();
  using _drip = request.drip?.((bytes) => void (stream.writable && stream.write(bytes)));
  await closed(stream);
  session.close();
  return status;
}

/** How an HTTP/1.1 client ends the request; `end` is the proper way, the last chunk; `none`: it sends nothing more and waits. */
export type Http1Cut = 'half close' | 'socket' | 'reset' | 'end' | 'none';

/** @param announced content length; undefined: chunks. Resolves with what the server answered once the connection is gone. */
export async function cutHttp1(
  request: CutRequest,
  cut: Http1Cut,
  pauseMs: number,
  announced: number | undefined,
): Promise<string> {
  const { port, ca, path, contentType } = request;
  const { socket, reset } = dial(port, ca, ['http/1.1']);
  let answer = '';
  socket.setEncoding('latin1').on('data', (text) => {
    answer += text;
  });
  const length = announced === undefined ? 'transfer-encoding: chunked' : `content-length: ${announced}`;
  const lines = [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'connection: close',
    `content-type: ${contentType}`,
    length,
  ];
  socket.write(`${[...lines, `authorization: ${headers.authorization}`].join('\r\n')}\r\n\r\n`);
  const write = (bytes: Uint8Array): void => {
    if (bytes.length === 0) return;
    if (announced === undefined) socket.write(`${bytes.length.toString(16)}\r\n`);
    socket.write(bytes);
    if (announced === undefined) socket.write('\r\n');
  };
  write(request.first);
  await request.begun();
  write(request.rest);
  if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  if (cut === 'half close') socket.end();
  else if (cut === 'socket') socket.destroy();
  else if (cut === 'reset') reset();
  else if (cut === 'end' && announced === undefined) socket.write('0\r\n\r\n');
  using _drip = request.drip?.((bytes) => void (socket.writable && write(bytes)));
  await closed(socket);
  return answer;
}

interface Dialled {
  readonly socket: Socket;
  readonly reset: () => void;
}

function dial(port: number, ca: string | undefined, ALPNProtocols: string[]): Dialled {
  const tcp = connectTcp({ host: '127.0.0.1', port });
  tcp.on('error', () => {});
  const socket = ca === undefined ? tcp : connectTls({ socket: tcp, ca, servername: 'localhost', ALPNProtocols });
  socket.on('error', () => {});
  return { socket, reset: () => void tcp.resetAndDestroy() };
}

function closed(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve();
    else stream.once('close', () => resolve());
  });
}

/** How every HTTP/2 client begins: the preface, and settings that change nothing. */
export const preface: Buffer = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), rawFrame(4, 0, 0, [])]);

/**
 * Sends the first bytes and, once the request has begun, the rest and RST_STREAM with that code, in frames that Node's client never writes.
 */
export async function resetHttp2(
  { port, path, contentType, first, begun, rest }: CutRequest,
  code: number,
): Promise<void> {
  const { socket } = dial(port, undefined, []);
  socket.resume();
  socket.write(Buffer.concat([preface, headersFrame(path, contentType), rawFrame(0, 0, 1, first)]));
  await begun();
  for (let at = 0; at < rest.length; at += 16_384) socket.write(rawFrame(0, 0, 1, rest.subarray(at, at + 16_384)));
  socket.write(rawFrame(3, 0, 1, [0, 0, 0, code]));
  socket.end();
  await closed(socket);
}

/** The request's head on stream 1, as uncompressed literals. */
export function headersFrame(path: string, contentType: string): Buffer {
  const lines = [':method', 'POST', ':scheme', 'http', ':authority', 'localhost', ':path', path];
  lines.push('content-type', contentType, ...Object.entries(headers).flat());
  return rawFrame(
    1,
    4,
    1,
    lines.flatMap((text, at) => [...(at % 2 === 0 ? [0] : []), text.length, ...Buffer.from(text)]),
  );
}

export function rawFrame(type: number, flags: number, stream: number, payload: ArrayLike<number>): Buffer {
  const { length } = payload;
  return Buffer.from([
    length >> 16,
    (length >> 8) & 255,
    length & 255,
    type,
    flags,
    0,
    0,
    0,
    stream,
    ...Array.from(payload),
  ]);
}

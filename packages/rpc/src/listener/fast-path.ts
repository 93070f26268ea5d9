/**
 * The fast path for the calls that a fleet makes: unary gRPC in binary over HTTP/2. It costs a fifth of the general path, which is a chain
 * of asynchronous generators that serves all protocols alike.
 *
 * It takes a request only if the request is ordinary throughout: one short message in one envelope, not compressed, sent at once. It hands
 * anything else over to the general path, with the bytes read so far, so that only one place refuses requests.
 */
import type { Http2Session, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { Code, ConnectError } from '@connectrpc/connect';
import { compressionBrotli, compressionGzip } from '@connectrpc/connect-node';
import { type Clock, errorText, type Log } from '@platform/base';
import type { Codecs } from '../codecs/codecs.ts';
import { namesPage } from '../codecs/cors.ts';
import { fittingGrpcMessage } from '../codecs/grpc-message.ts';
import type { AdmittedCall, UnaryMethod } from '../codecs/unary-method.ts';
import { FastPathCall } from '../core/fast-path-call.ts';
import { grpcTimeoutMs } from '../core/grpc-timeout.ts';
import { checksumHeader } from '../core/message-checksums.ts';
import { canonicalPath } from '../edge/alias.ts';
import { type Connection, connectionOf } from './connections/connection.ts';
import type { EnterRequest } from './enter-request.ts';
import { nameHost } from './name-host.ts';
import { onAnswered } from './on-answered.ts';

/** A client that takes longer to send its body takes the general path, which watches for slow bodies. */
const promptMs = 100;
/** Longer answers are compressed for clients that accept it, as on the general path. */
const compressFromBytes = 1_024;
/** Longer requests gain nothing here. */
const maxRequestBytes = 64 * 1_024;
const prefixBytes = 5;

/** Gives a request to the general path. @param read the whole body, if its end was seen. */
export type HandOver = (read?: Uint8Array) => void;

/** True if the request is taken, or will be handed over; false if the general path must take it. */
export type FastPath = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, handOver: HandOver) => boolean;

export function createFastPath(options: {
  codecs: Codecs;
  enter?: EnterRequest | undefined;
  shutdownSignal: AbortSignal;
  clock: Clock;
  log: Log;
}): FastPath {
  const { codecs, enter = (_request, work) => work(), shutdownSignal, clock, log } = options;
  const running = new Set<FastPathCall>();
  shutdownSignal.addEventListener('abort', () => {
    for (const call of running) call.end(shutdownSignal.reason);
  });

  return (stream, headers, handOver) => {
    if (headers[':method'] !== 'POST' || !isPlainGrpc(headers)) return false;
    const { path, vocabulary } = canonicalPath(headers[':path'] ?? '');
    const method = codecs.unary(path);
    const timeoutMs = timeoutOf(headers['grpc-timeout']);
    if (method === undefined || timeoutMs === 'other' || shutdownSignal.aborted) return false;

    // Looked up now: a handler may ask after the connection is gone.
    const peerAddress = peerAddressOf(stream, headers);
    const call = new FastPathCall({
      method: path,
      vocabulary,
      deadline: timeoutMs === undefined ? undefined : clock.now() + timeoutMs,
      metadata: () => metadataOf(headers),
      peerAddress,
      onAnswered: (listener) => onAnswered(stream, listener),
    });
    running.add(call);
    const timer =
      timeoutMs === undefined
        ? undefined
        : clock.after(timeoutMs, () => call.end(new ConnectError('the operation timed out', Code.DeadlineExceeded)));
    const over = (reason?: unknown): void => {
      timer?.[Symbol.dispose]();
      running.delete(call);
      call.end(reason);
    };
    const undelivered = (caught: unknown): void =>
      log.debug('a response could not be delivered', { path, error: errorText(caught) });
    const onClose = (): void => over(call.hasEnded ? undefined : new ConnectError('the client left', Code.Canceled));
    stream.on('error', undelivered);
    stream.once('close', onClose);
    enter({ path, peerAddress }, () => run(stream, headers, method, call, clock))
      .then((read) => {
        if (read === undefined) return;
        running.delete(call);
        timer?.[Symbol.dispose]();
        stream.off('close', onClose);
        stream.off('error', undelivered);
        handOver(read.whole);
      })
      .catch(undelivered);
    return true;
  };
}

/** Undefined if it answered; otherwise what the general path needs. */
async function run(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  method: UnaryMethod,
  call: FastPathCall,
  clock: Clock,
): Promise<{ readonly whole: Uint8Array | undefined } | undefined> {
  let admitted: AdmittedCall;
  try {
    admitted = await method.admit(call);
  } catch (caught) {
    // Node itself ends a stream whose body was not read before the answer.
    answer(stream, headers, call, undefined, ConnectError.from(caught));
    return undefined;
  }
  const body = await readEnvelope(stream, Math.min(method.maxRequestBytes, maxRequestBytes), clock);
  if (call.hasEnded && stream.destroyed) return undefined;
  if (body === undefined) return { whole: undefined };
  const request = isEnvelope(body) ? admitted.decode(body.subarray(prefixBytes)) : undefined;
  if (request === undefined) return { whole: body };
  try {
    await answerWith(stream, headers, call, await request());
  } catch (caught) {
    answer(stream, headers, call, undefined, ConnectError.from(caught));
  }
  return undefined;
}

/** The body, if its end came promptly. Undefined if something in it is not ordinary, or it is slow; what was read is put back. */
function readEnvelope(
  stream: ServerHttp2Stream,
  maxMessageBytes: number,
  clock: Clock,
): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    let read: Buffer | undefined;
    const settle = (body: Uint8Array | undefined): void => {
      timer[Symbol.dispose]();
      stream.off('readable', onReadable);
      stream.off('end', onEnd);
      stream.off('close', onClose);
      if (body !== undefined) {
        resolve(body);
        return;
      }
      if (read !== undefined) stream.unshift(read);
      // Node resumes the flow of a stream one tick after its last `readable` listener is removed.
      setImmediate(resolve, undefined);
    };
    const onReadable = (): void => {
      for (let chunk: Buffer | null = stream.read(); chunk !== null; chunk = stream.read()) {
        read = read === undefined ? chunk : Buffer.concat([read, chunk]);
        const announced = read.length < prefixBytes ? 0 : read.readUInt32BE(1);
        const isOrdinary =
          read[0] === 0 &&
          announced <= maxMessageBytes &&
          (read.length < prefixBytes || read.length <= prefixBytes + announced);
        if (!isOrdinary) {
          settle(undefined);
          return;
        }
      }
    };
    const onEnd = (): void => settle(stream.aborted ? undefined : (read ?? Buffer.alloc(0)));
    const onClose = (): void => settle(undefined);
    const timer = clock.after(promptMs, () => settle(undefined));
    // An empty body ends while its caller is being authenticated.
    if (stream.readableEnded) {
      onEnd();
      return;
    }
    stream.on('readable', onReadable);
    stream.once('end', onEnd);
    stream.once('close', onClose);
  });
}

/** Whether the body is one uncompressed envelope of exactly the length it states. */
function isEnvelope(body: Uint8Array): boolean {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  return body.length >= prefixBytes && body[0] === 0 && view.getUint32(1) === body.length - prefixBytes;
}

async function answerWith(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  call: FastPathCall,
  message: Uint8Array,
): Promise<void> {
  const compression = message.length < compressFromBytes ? undefined : compressionFor(headers);
  const bytes = compression === undefined ? message : await compression.compress(message);
  const frame = Buffer.allocUnsafe(prefixBytes + bytes.length);
  frame[0] = compression === undefined ? 0 : 1;
  frame.writeUInt32BE(bytes.length, 1);
  frame.set(bytes, prefixBytes);
  answer(stream, headers, call, frame, undefined);
}

/** Answers and ends the call. Exactly one of `frame` and `error` is given. */
function answer(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  call: FastPathCall,
  frame: Uint8Array | undefined,
  error: ConnectError | undefined,
): void {
  const { headers: given, trailers } = call.headersInUse;
  call.end();
  if (stream.destroyed || stream.closed) return;
  const compression = compressionFor(headers);
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc+proto',
      ...(compression && { 'grpc-encoding': compression.name }),
      ...(given && Object.fromEntries(given)),
    },
    { waitForTrailers: true },
  );
  stream.once('wantTrailers', () =>
    stream.sendTrailers({
      ...(trailers && Object.fromEntries(trailers)),
      ...(error === undefined
        ? { 'grpc-status': '0' }
        : { 'grpc-status': String(error.code), 'grpc-message': fittingGrpcMessage(error.rawMessage) }),
    }),
  );
  stream.end(frame);
}

function isPlainGrpc(headers: IncomingHttpHeaders): boolean {
  const contentType = headers['content-type'];
  if (contentType !== 'application/grpc' && contentType !== 'application/grpc+proto') return false;
  const encoding = headers['grpc-encoding'];
  const isPlain = (encoding === undefined || encoding === 'identity') && !namesPage(headers);
  return isPlain && headers[checksumHeader] === undefined;
}

function compressionFor(headers: IncomingHttpHeaders): typeof compressionGzip | undefined {
  const accepted = headers['grpc-accept-encoding'];
  if (accepted === undefined) return undefined;
  const names = String(accepted)
    .split(',')
    .map((name) => name.trim());
  const name = names.find((one) => one === compressionGzip.name || one === compressionBrotli.name);
  if (name === undefined) return undefined;
  return name === compressionGzip.name ? compressionGzip : compressionBrotli;
}

/** `other`: unusual, so the general path answers. */
function timeoutOf(header: unknown): number | undefined | 'other' {
  if (header === undefined) return undefined;
  const timeoutMs = grpcTimeoutMs(String(header));
  return timeoutMs > 0 ? timeoutMs : 'other';
}

function metadataOf(headers: IncomingHttpHeaders): Headers {
  const metadata = new Headers();
  nameHost(metadata, headers);
  for (const [name, value] of Object.entries(headers)) {
    // Pseudo headers belong to the transport, and only the body's reader checks the length.
    if (value === undefined || name.startsWith(':') || name === 'content-length' || name === 'host') continue;
    if (typeof value === 'string') metadata.append(name, value);
    else for (const one of value) metadata.append(name, one);
  }
  return metadata;
}

const connections = new WeakMap<Http2Session, Connection>();

/** The connection is looked up once for all its streams. Empty if it is already gone. */
function peerAddressOf({ session }: ServerHttp2Stream, headers: IncomingHttpHeaders): string {
  if (session === undefined) return '';
  let connection = connections.get(session);
  if (connection === undefined) {
    connection = connectionOf(session.socket);
    if (connection !== undefined) connections.set(session, connection);
  }
  return connection?.clientOf(headers['x-forwarded-for']) ?? '';
}

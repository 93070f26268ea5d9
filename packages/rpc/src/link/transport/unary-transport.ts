/**
 * Unary gRPC calls of one frame each way, without the streams and iterators that Connect's transport builds for every call. Connect's own
 * functions interpret everything but plain answers; streams go through `inner`.
 */
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2';
import {
  create,
  type DescMessage,
  fromBinary,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { BytesValueSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { validateResponseWithCompression, validateTrailer } from '@connectrpc/connect/protocol-grpc';
import { errorText, systemClock } from '@platform/base';
import { methodPath } from '../../core/binding.ts';
import { checksumHeader, checksumKind, MessageChecksums } from '../../core/message-checksums.ts';
import { Pieces } from '../../core/pieces.ts';
import { requireFewElements } from '../../core/request-limits.ts';
import type { Session } from '../connection/session.ts';
import { answerTooLarge } from './answer-too-large.ts';
import type { CheckedStreamsOptions } from './checked-streams.ts';
import { keepsEncoded } from './encoded-answers.ts';
import { encodedParts, longBytes } from './encoded-parts.ts';
import type { HeaderInit } from './header-init.ts';
import { makeStatusReadable } from './readable-status.ts';
import { redirectOf } from './redirect.ts';

const prefixBytes = 5;

export interface UnaryTransportOptions extends Omit<CheckedStreamsOptions, 'baseUrl'> {
  /** Carries streams. */
  readonly inner: Pick<Transport, 'stream'>;
}

export class UnaryTransport implements Transport {
  readonly #options: UnaryTransportOptions;

  constructor(options: UnaryTransportOptions) {
    this.#options = options;
  }

  readonly unary: Transport['unary'] = async (method, signal, timeoutMs, header, input) => {
    const { session, readMaxBytes, recursionLimit, maxElements } = this.#options;
    const given = recordOf(header);
    const frame = frameOf(method.input, input, given[checksumHeader] === checksumKind);
    const limitMs = timeoutMs === undefined || timeoutMs <= 0 ? undefined : timeoutMs;
    const headers = {
      ...given,
      'content-type': 'application/grpc+proto',
      te: 'trailers',
      ...(limitMs !== undefined && { 'grpc-timeout': `${limitMs}m` }),
    };
    using end = new CallEnd(signal, limitMs);
    const answer = await end.or(
      session.request('POST', `/${method.parent.typeName}/${method.name}`, headers, { bytes: sizeOf(frame) }).then(
        (stream) => exchange(stream, frame, { session, readMaxBytes, end }),
        (caught) => Promise.reject(asConnectError(caught)),
      ),
    );
    const bytes = messageOf(answer);
    let message: MessageShape<typeof method.output>;
    if (keepsEncoded(method)) message = create(BytesValueSchema, { value: bytes }) as Message as typeof message;
    else {
      requireFewElements(methodPath(method), method.output, { bytes, isJson: false }, maxElements);
      try {
        message = fromBinary(method.output, bytes, { recursionLimit });
      } catch (caught) {
        throw new ConnectError(`parse binary: ${errorText(caught)}`, Code.Internal);
      }
    }
    return {
      ...{ stream: false, service: method.parent, method, message },
      get header() {
        return webHeaders(answer.headers);
      },
      get trailer() {
        return webHeaders(answer.trailers);
      },
    };
  };

  readonly stream: Transport['stream'] = (...call) => this.#options.inner.stream(...call);
}

/** The parts of the only frame. Small ones are cheaper in one piece. */
function frameOf<I extends DescMessage>(
  schema: I,
  input: MessageInitShape<I>,
  isSummed: boolean,
): readonly Uint8Array[] {
  let parts: readonly Uint8Array[];
  try {
    parts = encodedParts(schema, create(schema, input) as MessageShape<I>);
  } catch (caught) {
    throw new ConnectError(`serialize binary: ${errorText(caught)}`, Code.Internal);
  }
  if (isSummed) parts = [...parts, new MessageChecksums().next(parts, true)];
  const size = sizeOf(parts);
  const prefix = Buffer.allocUnsafe(prefixBytes);
  prefix[0] = 0;
  prefix.writeUInt32BE(size, 1);
  const frame = [prefix, ...parts];
  return size > longBytes ? frame : [Buffer.concat(frame)];
}

function sizeOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

type ResponseHeaders = IncomingHttpHeaders & IncomingHttpStatusHeader;

interface Answer {
  readonly headers: ResponseHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

interface Exchange {
  readonly session: Session;
  readonly readMaxBytes: number;
  readonly end: CallEnd;
}

/** Sends the frame and reads the answer to its end. */
function exchange(
  stream: ClientHttp2Stream,
  frame: readonly Uint8Array[],
  { session, readMaxBytes, end }: Exchange,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const body = new Pieces();
    let size: number | undefined;
    let headers: ResponseHeaders = {};
    let trailers: IncomingHttpHeaders = {};
    const giveUp = (error: ConnectError): void => {
      reject(error);
      if (stream.closed) return;
      stream.close(error.code === Code.Canceled ? constants.NGHTTP2_CANCEL : constants.NGHTTP2_INTERNAL_ERROR);
    };
    stream.on('response', (found) => (headers = found));
    stream.on('trailers', (found) => (trailers = found));
    stream.on('data', (chunk: Buffer) => {
      session.notifyResponseByteRead(stream);
      body.add(chunk);
      // Read once: a peer can send the prefix in pieces, and then a long message in short ones.
      if (body.bytes >= prefixBytes) size ??= sizeIn(body.joined());
      const isLong = size !== undefined && size > readMaxBytes;
      if (isLong || body.bytes > prefixBytes + readMaxBytes)
        giveUp(answerTooLarge(readMaxBytes, isLong ? size : undefined));
    });
    const finish = (): void => resolve({ headers, trailers, body: body.joined() });
    stream.on('end', () => {
      session.notifyResponseByteRead(stream);
      // A stream that ended without a status may have been reset.
      if (trailers['grpc-status'] !== undefined) finish();
    });
    // A server may answer and close before it has read everything; its answer counts.
    stream.on('error', (caught: NodeJS.ErrnoException) => {
      if (caught.code !== 'ERR_STREAM_WRITE_AFTER_END') reject(asConnectError(caught));
    });
    stream.on('close', () => {
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR && stream.readableEnded) finish();
      else reject(errorOfClose(stream.rstCode));
    });
    end.onEnd(giveUp);
    stream.cork();
    for (const part of frame) stream.write(part);
    stream.end();
  });
}

/** The length in the prefix of the first message. */
function sizeIn(body: Uint8Array): number {
  return new DataView(body.buffer, body.byteOffset).getUint32(1);
}

/** The bytes of the only message. @throws ConnectError if the server answered with anything else */
function messageOf({ headers, trailers, body }: Answer): Uint8Array {
  const size = body.length < prefixBytes ? -1 : sizeIn(body);
  const isPlain =
    headers[':status'] === 200 &&
    headers['grpc-status'] === undefined &&
    trailers['grpc-status'] === '0' &&
    trailers['grpc-status-details-bin'] === undefined &&
    (headers['content-type'] ?? '').startsWith('application/grpc') &&
    [undefined, 'identity'].includes(headers['grpc-encoding'] as string | undefined) &&
    body[0] === 0 &&
    body.length === prefixBytes + size;
  // Not as a Buffer, whose `slice` shares memory: fields of bytes are views of it.
  if (isPlain) return new Uint8Array(body.buffer, body.byteOffset + prefixBytes, size);
  const redirect = redirectOf(headers[':status'] ?? 0, headers.location);
  if (redirect !== undefined) throw redirect;
  const [header, trailer] = [webHeaders(headers), webHeaders(trailers)];
  makeStatusReadable(header);
  makeStatusReadable(trailer);
  const { headerError } = validateResponseWithCompression([], headers[':status'] ?? 0, header);
  if (body.length > 0 && body.length < prefixBytes + Math.max(0, size))
    throw new ConnectError('protocol error: incomplete envelope', Code.InvalidArgument);
  validateTrailer(trailer, header);
  if (headerError !== undefined) throw headerError;
  if (body.length === 0)
    throw new ConnectError(
      'protocol error: missing output message for unary method',
      trailer.has('grpc-status') ? Code.Unimplemented : Code.Unknown,
    );
  if (body[0] !== 0)
    throw new ConnectError('received compressed envelope, but do not know how to decompress', Code.Internal);
  throw new ConnectError('protocol error: received extra output message for unary method', Code.Unimplemented);
}

/** Ends a call before its answer: by its caller's signal, or at its deadline. */
class CallEnd implements Disposable {
  readonly #signal: AbortSignal | undefined;
  readonly #timer: Disposable | undefined;
  readonly #aborted = (): void => {
    const reason: unknown = this.#signal?.reason;
    this.#end(ConnectError.from(reason, Code.Canceled));
  };
  #error: ConnectError | undefined;
  #listener: ((error: ConnectError) => void) | undefined;
  #reject: ((error: ConnectError) => void) | undefined;

  constructor(signal: AbortSignal | undefined, limitMs: number | undefined) {
    this.#signal = signal;
    if (limitMs !== undefined)
      this.#timer = systemClock.after(limitMs, () =>
        this.#end(new ConnectError('the operation timed out', Code.DeadlineExceeded)),
      );
    if (signal?.aborted === true) this.#aborted();
    else signal?.addEventListener('abort', this.#aborted);
  }

  /** Rejects when the call ends, whatever the state of `work`. */
  or<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (this.#error !== undefined) reject(this.#error);
      work.then(resolve, reject);
    });
  }

  /** @param listener is called once, immediately if the call has ended */
  onEnd(listener: (error: ConnectError) => void): void {
    this.#listener = listener;
    if (this.#error !== undefined) listener(this.#error);
  }

  #end(error: ConnectError): void {
    this.#error = error;
    this.#reject?.(error);
    this.#listener?.(error);
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#signal?.removeEventListener('abort', this.#aborted);
  }
}

function asConnectError(caught: unknown): ConnectError {
  if (caught instanceof ConnectError) return caught;
  const error = ConnectError.from(caught, codeOfFailure(caught));
  error.cause = caught;
  return error;
}

/** @returns the headers with names in lower case; in a record, as links provide it, they already are */
function recordOf(header: HeaderInit): Readonly<Record<string, string>> {
  if (header === undefined) return {};
  const isRecord = !(header instanceof Headers) && !Array.isArray(header) && !(Symbol.iterator in header);
  return isRecord ? (header as Readonly<Record<string, string>>) : Object.fromEntries(new Headers(header));
}

function webHeaders(headers: IncomingHttpHeaders): Headers {
  const result = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(':') || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) result.append(name, one);
  }
  return result;
}

const abortedCodes = new Set([
  'ERR_STREAM_WRITE_AFTER_END',
  'ERR_STREAM_DESTROYED',
  'ERR_HTTP2_INVALID_STREAM',
  'ECONNRESET',
]);
const unreachableCodes = new Set(['ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED']);

/** The code for an error of Node's streams or sockets, from its own code or that of a cause: the same as that of Connect's transports. */
function codeOfFailure(caught: unknown): Code {
  for (let error = caught, depth = 0; error instanceof Error && depth < 8; error = error.cause, depth++) {
    const code = 'code' in error ? String(error.code) : '';
    if (abortedCodes.has(code)) return Code.Aborted;
    if (unreachableCodes.has(code)) return Code.Unavailable;
  }
  return Code.Internal;
}

/** The code for a stream that closed without an answer. Every other reset is an error of the stream before it closes. */
function errorOfClose(rstCode: number | undefined): ConnectError {
  return rstCode === constants.NGHTTP2_CANCEL
    ? new ConnectError('http/2 stream closed with error code CANCEL (0x8)', Code.Canceled)
    : new ConnectError('the stream closed without an answer', Code.Aborted);
}

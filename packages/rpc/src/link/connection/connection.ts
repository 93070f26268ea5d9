/**
 * One HTTP/2 connection of a link, from its opening to its end.
 *
 * | from       | to       | when |
 * |------------|----------|------|
 * | connecting | open     | the socket is connected, TLS included |
 * | connecting | over     | it cannot be reached, or took longer than 10 s |
 * | open       | draining | the peer said GOAWAY, an answer was not gRPC, a PING is answered late, it is full, or the numbers for streams run out: calls in progress go on, new ones need another connection |
 * | draining   | over     | its last call has ended |
 * | any        | over     | it was lost: closed, reset, invalid bytes, an unanswered PING; or the link was closed |
 *
 * An open connection without calls is idle: it does not keep the process alive, and if it was silent for long, the next call first verifies
 * it (`KeepAlive`). `over` is final: timers are gone, everyone who waited has an answer, and calls in progress have ended as UNAVAILABLE,
 * because only their callers cancel calls. A peer can end the connection at any point, even before its opening was noticed.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Code, ConnectError } from '@connectrpc/connect';
import { type Clock, errorText } from '@platform/base';
import { fewBytes, KeepAlive } from './keep-alive.ts';

/** A network that swallows packets answers nothing; the next call must not wait for it as long as the system does. */
const connectTimeoutMs = 10_000;

/** HTTP/2 has 2³⁰ numbers for the streams of a connection. */
const maxStreams = 2 ** 30 - 1;

/**
 * RFC 9113 recommends that peers allow at least as many calls at once, so as many are sent before a peer has said how many. One that allows
 * fewer does not get more connections for them.
 */
const leastAtOnce = 100;

/** As Connect accepts it. */
const grpcType = /^application\/grpc(\+proto)?$/i;

/** Resets for which a damaged connection may be the cause. */
const faultyResets: ReadonlySet<number | undefined> = new Set([
  constants.NGHTTP2_PROTOCOL_ERROR,
  constants.NGHTTP2_FLOW_CONTROL_ERROR,
  constants.NGHTTP2_FRAME_SIZE_ERROR,
  constants.NGHTTP2_COMPRESSION_ERROR,
]);

export interface Dialled {
  readonly socket: Duplex;
  /** Over the socket. */
  readonly session: ClientHttp2Session;
}

export interface ConnectionOptions {
  readonly clock: Clock;
  /** Flow-control window of the whole connection. */
  readonly windowBytes: number;
  /** Silence before a PING; undefined: the peer is never asked. */
  readonly silentMs: number | undefined;
  /** The same while calls run. Default: `silentMs`. */
  readonly callSilentMs?: number | undefined;
  /** Asks also while no calls run. */
  readonly isWatchedIdle: boolean;
  /** Another connection can take its place. */
  readonly isReplaceable: boolean;
  /** The peer complained about the number of PINGs. */
  readonly onTooManyPings: () => void;
  readonly onOver: () => void;
}

export class Connection {
  readonly #session: ClientHttp2Session;
  readonly #socket: Duplex;
  readonly #options: ConnectionOptions;
  readonly #keepAlive: KeepAlive | undefined;
  /** Resolves when it is no longer connecting. */
  readonly #settled = Promise.withResolvers<void>();
  readonly #limit: Disposable;
  #state: 'connecting' | 'open' | 'draining' | 'over' = 'connecting';
  #wasOpen = false;
  #isCut = false;
  /** Its SETTINGS have arrived, which every peer that speaks HTTP/2 sends first, or it hangs, and nobody knows what it speaks. */
  #mayBeHttp2 = false;
  #mostCalls: number;
  #isFull = false;
  #error: ConnectError | undefined;
  /** Calls in progress that nobody has abandoned, with the bytes of their requests. */
  readonly #calls = new Map<ClientHttp2Stream, number>();
  #carried = 0;

  constructor({ socket, session }: Dialled, options: ConnectionOptions) {
    const { clock, silentMs, callSilentMs } = options;
    this.#session = session;
    this.#socket = socket;
    this.#options = options;
    this.#mostCalls = options.isReplaceable ? leastAtOnce : Number.POSITIVE_INFINITY;
    this.#keepAlive =
      silentMs === undefined
        ? undefined
        : new KeepAlive({
            ...{ clock, silentMs, callSilentMs },
            ping: (onAnswer) => {
              if (!session.destroyed) session.ping((error) => error === null && onAnswer());
            },
            sentBytes: () => this.#sentBytes,
            onLate: () => this.#leaveToLarge(),
            onDead: () => {
              this.#mayBeHttp2 = true;
              this.end(lost('the peer does not answer: a PING timed out'));
            },
          });
    this.#limit = clock.after(connectTimeoutMs, () =>
      this.end(lost(`it was not established within ${connectTimeoutMs} ms`)),
    );
    // Before Node, which ends the calls as cancelled.
    socket.prependOnceListener('close', () => {
      this.#isCut = true;
    });
    // The error of a socket that is destroyed late has no other listener.
    socket.on('error', () => {});
    session.once('connect', () => this.#open());
    session.on('remoteSettings', ({ maxConcurrentStreams }) => {
      this.#mayBeHttp2 = true;
      if (options.isReplaceable)
        this.#mostCalls = Math.max(maxConcurrentStreams ?? Number.POSITIVE_INFINITY, leastAtOnce);
    });
    // For good: a peer that keeps sending invalid data causes further errors.
    session.on('error', (error) => this.end(lost(errorText(error), error)));
    session.on('close', () => {
      this.end(undefined);
      // A callback of Node keeps a session for good whose SETTINGS were never confirmed; it shall not keep the connection and its calls, too.
      session.removeAllListeners().on('error', ignore);
    });
    session.on('goaway', (code, _lastStream, data) => {
      if (data?.toString() === 'too_many_pings') options.onTooManyPings();
      // With an error, the session ends.
      if (code === constants.NGHTTP2_NO_ERROR) this.#drain();
    });
  }

  /** Undefined while it is not over, and if nothing was wrong when it ended. */
  get error(): ConnectError | undefined {
    return this.#error;
  }

  get state(): 'connecting' | 'open' | 'draining' | 'over' {
    return this.#state;
  }

  /** It got as many calls as the peer allows at once. Further ones would wait for one of these to end, which some never do. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Waits until it has settled, and verifies it if it was silent. @throws the reason if it was never open */
  async ready(): Promise<void> {
    if (this.#state === 'connecting') await this.#settled.promise;
    if (this.#state === 'over' && !this.#wasOpen) throw this.#error ?? lost(closedText);
    if (this.#state === 'open' && this.#keepAlive?.isSilent === true) await this.#keepAlive.verify();
  }

  /** A new stream; undefined if the connection cannot carry another one. @param bytes of the request; default: unknown */
  request(headers: OutgoingHttpHeaders, bytes: number = Number.POSITIVE_INFINITY): ClientHttp2Stream | undefined {
    if (this.#session.destroyed) this.end(lost(closedText));
    if (this.#state !== 'open' || this.#session.closed) return undefined;
    const stream = this.#session.request(headers, {});
    this.#watchStream(stream);
    this.#calls.set(stream, bytes);
    if (this.#calls.size === 1) {
      this.#session.ref();
      this.#keepAlive?.watch();
    }
    this.#noteReceived(stream);
    if (this.#options.isReplaceable) this.#watchAnswer(stream);
    stream.once('close', () => this.#streamEnded(stream));
    this.#isFull = this.#calls.size >= this.#mostCalls;
    if (++this.#carried >= maxStreams || this.#isFull) this.#drain();
    return stream;
  }

  carries(stream: ClientHttp2Stream): boolean {
    return stream.session === this.#session;
  }

  /** The peer sent something. */
  heard(): void {
    this.#keepAlive?.heard();
  }

  /**
   * This computer now has these addresses. A connection from another one is lost, as is one that is still being established; the peers of
   * others are asked, since packets may take another way now.
   */
  networkChanged(addresses: ReadonlySet<string>): void {
    if (this.#keepAlive === undefined || !(this.#socket instanceof Socket)) return;
    const address = this.#socket.localAddress?.replace(/^::ffff:|%.*$/g, '');
    if (address === undefined || !addresses.has(address)) this.end(lost('the network of this computer has changed'));
    else if (this.#state !== 'connecting') void this.#keepAlive.verify();
  }

  /** @param error undefined: nothing was wrong */
  end(error: ConnectError | undefined): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#error = error;
    this.#limit[Symbol.dispose]();
    this.#keepAlive?.[Symbol.dispose]();
    this.#session.destroy(error, constants.NGHTTP2_CANCEL);
    // Node closes it only after all writes, which a peer that does not read can prevent.
    setImmediate(() => this.#socket.destroy());
    this.#settled.resolve();
    this.#options.onOver();
  }

  get #sentBytes(): number {
    return this.#socket instanceof Socket ? this.#socket.bytesWritten : 0;
  }

  #open(): void {
    // The peer may have ended it in the same turn, and Node need not say so until the peer has read everything.
    if (this.#session.destroyed) this.end(lost(closedText));
    if (this.#state !== 'connecting') return;
    this.#state = 'open';
    this.#wasOpen = true;
    this.#limit[Symbol.dispose]();
    this.heard();
    // Widening the windows of the streams is not enough: the connection has its own.
    this.#session.setLocalWindowSize(this.#options.windowBytes);
    this.#session.unref();
    if (this.#options.isWatchedIdle) this.#keepAlive?.watch();
    this.#settled.resolve();
  }

  /** Whoever answers a call has received what was sent before it; with success, usually the whole request, too. */
  #noteReceived(stream: ClientHttp2Stream): void {
    const before = this.#sentBytes;
    let whole = before;
    stream.once('finish', () => {
      whole = this.#sentBytes;
    });
    stream.once('response', () => this.#keepAlive?.heard(before));
    stream.once('trailers', ({ 'grpc-status': status }) => this.#keepAlive?.heard(status === '0' ? whole : before));
  }

  /**
   * Nothing passes, or only slowly because much was sent. Only calls that sent much wait to learn which; others, and new ones, use another
   * connection.
   */
  #leaveToLarge(): void {
    if (this.#state === 'over' || !this.#options.isReplaceable) return;
    this.#drain();
    const reason = 'the peer does not answer: a PING is late';
    for (const [stream, bytes] of [...this.#calls])
      if (bytes < fewBytes) stream.destroy(lost(reason, new CallCutOff(reason)));
  }

  #drain(): void {
    if (this.#state !== 'open') return;
    this.#state = 'draining';
    if (this.#calls.size === 0) this.end(undefined);
  }

  #streamEnded(stream: ClientHttp2Stream): void {
    if (!this.#calls.delete(stream) || this.#calls.size > 0 || this.#state === 'over') return;
    if (this.#state === 'draining') this.end(undefined);
    else {
      this.#session.unref();
      if (!this.#options.isWatchedIdle) this.#keepAlive?.rest();
    }
  }

  /**
   * Both ends keep a table of headers, so one damaged header can spoil every later call of its connection. A call whose answer is not gRPC
   * is therefore the last one.
   */
  #watchAnswer(stream: ClientHttp2Stream): void {
    let [isAnswered, hasStatus] = [false, false];
    const readStatus = ({ 'grpc-status': status }: IncomingHttpHeaders): void => {
      if (status === undefined) return;
      hasStatus = true;
      if (!/^\d+$/.test(String(status))) this.#drain();
    };
    stream.once('response', (headers) => {
      isAnswered = true;
      readStatus(headers);
      if (!grpcType.test(headers['content-type'] ?? '')) this.#drain();
    });
    stream.once('trailers', readStatus);
    stream.once('close', () => {
      const isWithoutStatus = stream.rstCode === constants.NGHTTP2_NO_ERROR && isAnswered && !hasStatus;
      if (isWithoutStatus || faultyResets.has(stream.rstCode)) this.#drain();
    });
  }

  /**
   * Corrects three ends of a stream. A lost connection is a failure, which Node reports as a cancelled call. So is a call that the peer did not
   * begin, for example because it stops. And a request that is abandoned
   * midway is reset without an END_STREAM before it, for which the server would take a partial request for a complete one.
   */
  #watchStream(stream: ClientHttp2Stream): void {
    const [close, destroy] = [stream.close.bind(stream), stream.destroy.bind(stream)];
    const isLost = (): boolean => this.#isCut || this.#session.destroyed;
    const lose = (error?: unknown): ClientHttp2Stream => {
      this.end(error == null ? lost(closedText) : lost(errorText(error), error));
      const { rawMessage, cause } = this.#error ?? lost(closedText);
      return destroy(lost(rawMessage, new CallCutOff(rawMessage, { cause, mayBeHttp2: this.#mayBeHttp2 })));
    };
    // It may fail before its caller listens.
    stream.on('error', () => {});
    stream.destroy = (error) => {
      const isAnswered = stream.closed && stream.rstCode === constants.NGHTTP2_NO_ERROR;
      if (isLost() && !isAnswered) return lose(error);
      const isRefused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
      return destroy(isRefused ? lost('the peer refused the call') : error);
    };
    stream.close = (code, callback) => {
      if (code === undefined || code === constants.NGHTTP2_NO_ERROR) return close(code, callback);
      if (!isLost() && stream.writableEnded) {
        close(code, callback);
        // Node does not close it if the peer broke the protocol after GOAWAY: it neither reads nor writes then.
        this.#streamEnded(stream);
        return;
      }
      if (callback !== undefined) stream.once('close', callback);
      if (isLost()) lose();
      else destroy(new Error(`the request was abandoned (HTTP/2 code ${code})`));
    };
  }
}

/**
 * The cause of a call's error if its connection ended while it was in progress: the peer may have got the call, and the next one may succeed.
 * Other calls that are UNAVAILABLE did not reach it.
 */
export class CallCutOff extends Error {
  override readonly name = 'CallCutOff';
  /** False: the peer ended the connection, or sent something else, before what every peer that speaks HTTP/2 sends first. */
  readonly mayBeHttp2: boolean;

  constructor(
    message: string,
    { mayBeHttp2 = true, ...options }: ErrorOptions & { readonly mayBeHttp2?: boolean } = {},
  ) {
    super(message, options);
    this.mayBeHttp2 = mayBeHttp2;
  }
}

/** @param cause what Node said */
export function lost(reason: string, cause?: unknown): ConnectError {
  const error = new ConnectError(reason, Code.Unavailable);
  error.cause = cause;
  return error;
}

const closedText = 'it was closed';

function ignore(): void {}

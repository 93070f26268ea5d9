/** The single HTTP/2 connection of a link. The first call opens it; the next call opens it again after a loss. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { Http2SessionManager } from '@connectrpc/connect-node';
import { PlatformError } from '@platform/base';
import { toConnectError } from '../core/errors.ts';
import { maxHeaderBytes, maxTunnelCalls, tunnelWindowBytes, windowBytes } from '../listener/limits.ts';

/** A connection that was quiet for this long is checked with a PING: before the next call, and while calls run. */
const pingIntervalMs = 20_000;
const pingTimeoutMs = 10_000;

/** For a connection over a given stream, which cannot be opened again: the longest time that a timer can hold. */
const idleConnectionTimeoutMs = 2_147_483_647;

/** A connection over a given stream. */
export interface ConnectionOver {
  readonly stream: Duplex;
  readonly pingIntervalMs: number;
}

export class Session extends Http2SessionManager {
  readonly #widened = new WeakSet<ClientHttp2Session>();
  readonly #windowBytes: number;
  #closed = false;

  /**
   * @param ca PEM certificates to trust instead of the system's; undefined: the system's.
   * @param way a Unix socket instead of the host and port of `baseUrl`, or a stream that is already open.
   */
  constructor(
    baseUrl: string,
    ca: string | undefined,
    way: { readonly socketPath?: string; readonly over?: ConnectionOver } = {},
  ) {
    const { socketPath, over } = way;
    const initialWindowSize = over === undefined ? windowBytes : tunnelWindowBytes;
    const settings = { initialWindowSize, maxHeaderListSize: maxHeaderBytes, enablePush: false };
    if (over === undefined) {
      const socket = socketPath !== undefined && { createConnection: () => connect(socketPath) };
      super(baseUrl, { pingIntervalMs, pingTimeoutMs }, { settings, ca, ...socket });
    } else
      super(
        baseUrl,
        // Calls have only this connection, so a broken one must be noticed before the next call.
        { pingIntervalMs: over.pingIntervalMs, pingTimeoutMs, pingIdleConnection: true, idleConnectionTimeoutMs },
        { settings, createConnection: once(over.stream) },
      );
    this.#windowBytes = over === undefined ? windowBytes : maxTunnelCalls * tunnelWindowBytes;
  }

  override async request(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders,
    options: Omit<ClientSessionRequestOptions, 'signal'>,
  ): Promise<ClientHttp2Stream> {
    if (this.#closed) throw toConnectError(new PlatformError('canceled', 'this link is closed'));
    const stream = cuttable(await super.request(method, path, headers, options));
    const session = stream.session;
    // Widening the stream's window is not enough: the connection has its own.
    if (session !== undefined && !this.#widened.has(session as ClientHttp2Session)) {
      this.#widened.add(session as ClientHttp2Session);
      session.setLocalWindowSize(this.#windowBytes);
      // The manager removes its own listener when a connection fails; a peer that keeps sending invalid data would then crash this process.
      session.on('error', () => {});
      // A stream that closes after its connection restarts the manager's timer. An error thrown by a PING in a timer would crash this
      // process.
      session.ping = new Proxy(session.ping, {
        apply: (ping, on, args) => !session.destroyed && Reflect.apply(ping, on, args),
      });
    }
    return stream;
  }

  /** Ends running calls as CANCELED; the link never connects again. */
  close(): void {
    this.#closed = true;
    this.abort(toConnectError(new PlatformError('canceled', 'this link is closed')));
  }
}

/** The stream for the first connection. @throws unavailable for every further one */
function once(stream: Duplex): () => Duplex {
  let isTaken = false;
  return () => {
    if (isTaken) throw toConnectError(new PlatformError('unavailable', 'the connection has ended'));
    isTaken = true;
    return stream;
  };
}

/**
 * A stream that, when closed with an error code, sends no END_STREAM. Node would send it before the RST_STREAM, and the server would take a
 * partial request for a complete one.
 */
function cuttable(stream: ClientHttp2Stream): ClientHttp2Stream {
  const close = stream.close.bind(stream);
  stream.close = (code, callback) => {
    if (code === undefined || code === constants.NGHTTP2_NO_ERROR || stream.writableEnded) return close(code, callback);
    if (callback !== undefined) stream.once('close', callback);
    stream.destroy(new Error(`the request was abandoned (HTTP/2 code ${code})`));
  };
  return stream;
}

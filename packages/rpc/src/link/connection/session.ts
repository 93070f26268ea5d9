/**
 * Where the calls of a link get their streams: the connection in use, which the first call opens. A connection that drains, was lost or does
 * not answer is replaced by the next call; one over a given stream never is. A call tries at most one replacement, so a peer that ends every
 * connection costs that call alone. A closed session answers UNAVAILABLE. The states of a connection are in `connection.ts`.
 */
import {
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  connect as connectHttp2,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { connect, isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { type Clock, errorText, systemClock } from '@platform/base';
import { checkServerIdentity } from '../../core/certificate-names.ts';
import { maxHeaderBytes, maxTunnelCalls, tunnelWindowBytes, windowBytes } from '../../listener/limits.ts';
import { Connection, type Dialled, lost } from './connection.ts';
import { silentMs } from './keep-alive.ts';

export interface SessionOptions {
  /** Origin of the peer; for a stream or a socket, only a name. */
  readonly authority: string;
  /** PEM certificates to trust instead of the system's. Default: the system's. */
  readonly ca?: string | undefined;
  /** A Unix socket instead of the host and port. */
  readonly socketPath?: string | undefined;
  /** A stream that is already open, and the only one. */
  readonly stream?: Duplex | undefined;
  /** The peer is a process of this computer, whose end is noticed without PING, and which may be busy for longer than a PING may wait. */
  readonly isLocal?: boolean | undefined;
  /** Silence while calls run, before a PING. Default: 15 s, as before the next call. */
  readonly callSilentMs?: number | undefined;
  /** Finds the addresses of the host. Default: the system's. */
  readonly lookup?: LookupFunction | undefined;
  readonly clock?: Clock | undefined;
}

/** `idle`: not connected, the next call connects. `unreachable`: the last attempt or connection failed, the next call tries again. */
export type SessionState = 'idle' | 'connecting' | 'connected' | 'unreachable' | 'closed';

/** Implements the session manager of Connect's transport. */
export class Session {
  readonly authority: string;
  readonly #options: SessionOptions;
  /** All that are not over. At most one is in use; others drain. */
  readonly #connections = new Set<Connection>();
  #current: Connection | undefined;
  #silentMs: number = silentMs;
  #isClosed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.authority = options.authority;
  }

  /** @param options `bytes` of the whole request; default: unknown @throws ConnectError, unavailable without a connection */
  async request(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders,
    { bytes }: ClientSessionRequestOptions & { readonly bytes?: number } = {},
  ): Promise<ClientHttp2Stream> {
    for (let isLastTry = false; ; ) {
      const connection = this.#connection();
      await connection.ready();
      const stream = connection.request({ ...headers, ':method': method, ':path': path }, bytes);
      if (stream !== undefined) return stream;
      // Not a failure: others came first.
      if (connection.isFull) continue;
      if (isLastTry) throw connection.error ?? lost('it was closed');
      isLastTry = true;
    }
  }

  /** The peer sent a piece of this answer. */
  notifyResponseByteRead(stream: ClientHttp2Stream): void {
    for (const connection of this.#connections) if (connection.carries(stream)) connection.heard();
  }

  /** This computer now has these addresses. */
  networkChanged(addresses: ReadonlySet<string>): void {
    for (const connection of this.#connections) connection.networkChanged(addresses);
  }

  get state(): SessionState {
    if (this.#isClosed) return 'closed';
    switch (this.#current?.state) {
      case undefined:
        return 'idle';
      case 'connecting':
        return 'connecting';
      case 'over':
        return this.#current?.error === undefined ? 'idle' : 'unreachable';
      default:
        return 'connected';
    }
  }

  /** Ends the connection in use, with its calls. The next call opens another one. */
  reconnect(): void {
    this.#current?.end(lost('it was given up'));
  }

  /** Ends running calls as UNAVAILABLE; the link never connects again. */
  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections) connection.end(lost(closedText));
  }

  /** The connection for the next call. */
  #connection(): Connection {
    if (this.#isClosed) throw lost(closedText);
    const { stream, isLocal, callSilentMs } = this.#options;
    const current = this.#current;
    if (current?.state === 'connecting' || current?.state === 'open') return current;
    if (stream !== undefined && current !== undefined) throw current.error ?? lost('the connection has ended');
    const connection = new Connection(this.#dial(), {
      clock: this.#options.clock ?? systemClock,
      windowBytes: stream === undefined ? windowBytes : maxTunnelCalls * tunnelWindowBytes,
      silentMs: isLocal === true ? undefined : this.#silentMs,
      callSilentMs: callSilentMs && (callSilentMs * this.#silentMs) / silentMs,
      // Nothing replaces a given stream, so its end must be noticed before the next call.
      isWatchedIdle: stream !== undefined,
      isReplaceable: stream === undefined,
      onTooManyPings: () => {
        this.#silentMs *= 2;
      },
      onOver: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    this.#current = connection;
    return connection;
  }

  #dial(): Dialled {
    const { authority, ca, socketPath, stream, lookup } = this.#options;
    const initialWindowSize = stream === undefined ? windowBytes : tunnelWindowBytes;
    const settings = { initialWindowSize, maxHeaderListSize: maxHeaderBytes, enablePush: false };
    try {
      const socket =
        stream ?? (socketPath === undefined ? socketTo(new URL(authority), ca, lookup) : connect(socketPath));
      return { socket, session: connectHttp2(authority, { settings, createConnection: () => socket }) };
    } catch (caught) {
      throw lost(errorText(caught), caught);
    }
  }
}

function socketTo(
  { protocol, hostname, port }: URL,
  ca: string | undefined,
  lookup: LookupFunction | undefined,
): Duplex {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'http:') return connect({ host, port: Number(port || 80), ...(lookup && { lookup }) });
  const servername = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ host, port: Number(port || 443), ca, checkServerIdentity, ALPNProtocols: ['h2'], ...servername });
}

const closedText = 'this link is closed';

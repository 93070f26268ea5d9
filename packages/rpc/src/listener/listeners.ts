/** The listening sockets: one port for HTTP/1.1 and HTTP/2, in plaintext or under TLS. */
import { createServer as createHttp1, type Server as Http1Server, type IncomingMessage } from 'node:http';
import {
  createServer as createHttp2,
  createSecureServer,
  type Http2SecureServer,
  type Http2Server,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createTcp, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Clock, errorText, type Log, PlatformError } from '@platform/base';
import { enterInTurns } from '../core/enter-in-turns.ts';
import { bodyRead } from './body-read.ts';
import { acceptConnection, type PortOptions } from './connections/accept-connection.ts';
import { type Connection, connectionOf } from './connections/connection.ts';
import type { FastPath } from './fast-path.ts';
import { limitPipelining, readInPieces } from './limit-pipelining.ts';
import {
  headersCheckMs,
  headersTimeoutMs,
  idleConnectionMs,
  keepAliveMs,
  maxConcurrentStreams,
  maxHeaderBytes,
  maxResets,
  maxSessionMemoryMb,
  windowBytes,
} from './limits.ts';
import type { NodeListener, NodeRequest, NodeResponse } from './node-types.ts';
import { peekVersion } from './peek-version.ts';
import { refusePlaintext } from './refuse-plaintext.ts';
import { watchFloods } from './watch-floods.ts';

/** The first byte of every TLS connection: the content type of a handshake. */
const tlsHandshake = 0x16;

/** Takes over a connection that asked for another protocol, such as WebSocket. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface ListenerOptions {
  tls: { cert: string; key: string } | 'later' | undefined;
  plaintextOnLoopback: boolean;
  listener: NodeListener;
  /** Sees every HTTP/2 request first. */
  fastPath: FastPath;
  upgrade: UpgradeListener | undefined;
  /** Which connections are served, how many may be silent and for how long, and which proxies say whose theirs are. */
  accept: PortOptions;
  clock: Clock;
  log: Log;
}

export interface Listener {
  readonly server: Server;
  /** Every open connection. */
  readonly sockets: ReadonlySet<Socket>;
  /** Asks clients to leave: sends GOAWAY over HTTP/2, and ends HTTP/1.1 connections that are idle or have sent nothing yet. */
  goAway(): void;
  /** New connections get this certificate. Throws if the port is in plaintext. */
  setTls(tls: { cert: string; key: string }): void;
}

const http2Options = {
  settings: { initialWindowSize: windowBytes, maxConcurrentStreams, maxHeaderListSize: maxHeaderBytes },
  maxSessionMemory: maxSessionMemoryMb,
  streamResetBurst: maxResets,
};
const tcpOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs };
const http1Options = {
  connectionsCheckingInterval: headersCheckMs,
  maxHeaderSize: maxHeaderBytes,
  headersTimeout: headersTimeoutMs,
  keepAliveTimeout: idleConnectionMs,
  // A long body on a slow line is legitimate; `slowBodyMs` ends one that stalls or trickles.
  requestTimeout: 0,
};

export function createListener(given: ListenerOptions): Listener {
  const options = { ...given, listener: limitPipelining(given.listener) };
  return options.tls === undefined ? createPlainListener(options) : createTlsListener(options, options.tls);
}

function createPlainListener(options: ListenerOptions): Listener {
  const { accept, clock, log } = options;
  const plaintext = createPlaintext(options);
  const silent = new Set<Socket>();
  const server = createTcp(tcpOptions, (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
    acceptConnection(socket, accept, () => void plaintext.adopt(socket).finally(() => silent.delete(socket)));
  });
  const sockets = trackSockets(server);
  const sessions = trackSessions(plaintext.http2, server, clock, log);
  server.on('close', () => plaintext.http1.close());
  return {
    server,
    sockets,
    goAway() {
      for (const session of sessions) session.close();
      plaintext.http1.closeIdleConnections();
      for (const socket of silent) socket.destroy();
    },
    setTls() {
      throw new PlatformError('internal', 'this server was created without TLS');
    },
  };
}

/** Serves connections in plaintext that another server has accepted. */
interface Plaintext {
  readonly http1: Http1Server;
  readonly http2: Http2Server;
  /** Never rejects. */
  adopt(socket: Socket): Promise<void>;
}

function createPlaintext({ listener, fastPath, upgrade, log }: ListenerOptions): Plaintext {
  const http1 = createHttp1({ ...http1Options, ...upgrading(upgrade) }, listener);
  noteRequests(http1, upgrade);
  // A server that never listens itself does not check header timeouts until it gets this event.
  http1.emit('listening');
  const http2 = createHttp2(http2Options, listener);
  askFirst(http2, fastPath);
  return {
    http1,
    http2,
    async adopt(socket) {
      try {
        const version = await peekVersion(socket);
        if (version === 'http/1.1') {
          // HTTP/1.1 clients may close their sending side and still wait for the answer.
          socket.allowHalfOpen = true;
          http1.emit('connection', socket);
          readInPieces(socket);
        } else if (version === 'h2') {
          http2.emit('connection', socket);
        }
      } catch (caught) {
        log.warn('a connection could not be served', { error: errorText(caught) });
        socket.destroy();
      }
    },
  };
}

function createTlsListener(given: ListenerOptions, tls: { cert: string; key: string } | 'later'): Listener {
  const { listener, fastPath, upgrade, accept, clock, log } = given;
  const options = {
    ...tcpOptions,
    ...http2Options,
    ...(tls === 'later' ? {} : tls),
    allowHTTP1: true,
    // It ends the same connections at the same time.
    handshakeTimeout: accept.silentMs,
    ...http1Options,
    ...upgrading(upgrade),
  };
  const secure = createSecureServer(options, listener);
  noteRequests(secure, upgrade);
  // As above: from here on, header timeouts and idle HTTP/1.1 connections are checked.
  secure.emit('listening');
  askFirst(secure, fastPath);
  /** Node does not tell over which socket TLS runs. */
  const underTls = new Map<string, Connection>();
  // Before Node's own listener, which makes the session of HTTP/2.
  secure.prependListener('secureConnection', (socket) => underTls.get(endsOf(socket))?.alsoKnownAs(socket));
  secure.on('secureConnection', (socket) => {
    if (socket.alpnProtocol !== 'h2') readInPieces(socket);
  });
  secure.on('tlsClientError', (error) => log.debug('a TLS handshake failed', { error: errorText(error) }));
  const plaintext = given.plaintextOnLoopback ? createPlaintext(given) : undefined;
  const silent = new Set<Socket>();
  const peek = (socket: Socket, connection: Connection): void => {
    socket.once('data', (first: Buffer) => {
      silent.delete(socket);
      socket.pause();
      const isTls = first[0] === tlsHandshake;
      if (!isTls && (plaintext === undefined || !isLoopback(socket))) return refusePlaintext(socket, first);
      socket.unshift(first);
      if (!isTls) return void plaintext?.adopt(socket);
      const ends = endsOf(socket);
      underTls.set(ends, connection);
      socket.once('close', () => underTls.delete(ends));
      secure.emit('connection', socket);
    });
  };
  const server = createTcp(tcpOptions, (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
    acceptConnection(socket, accept, (connection) => peek(socket, connection));
  });
  const sockets = trackSockets(server);
  const sessions = trackSessions(secure, server, clock, log);
  const plainSessions = plaintext && trackSessions(plaintext.http2, server, clock, log);
  if (plaintext) server.on('close', () => plaintext.http1.close());
  return {
    server,
    sockets,
    goAway() {
      for (const session of [...sessions, ...(plainSessions ?? [])]) session.close();
      plaintext?.http1.closeIdleConnections();
      // It has no own socket to close: this ends idle HTTP/1.1 connections and the header timeout checks.
      secure.close();
      for (const socket of silent) socket.destroy();
    },
    setTls: (next) => secure.setSecureContext(next),
  };
}

/** Each open connection of a port has other ends. */
function endsOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}

/** Both events come once the head of a request is complete. What takes over its connection ends with it. */
function noteRequests(http: Http1Server | Http2SecureServer, upgrade: UpgradeListener | undefined): void {
  http.prependListener('request', (request: NodeRequest, response: NodeResponse) => {
    // Streams of HTTP/2 were noticed before.
    const connection = request.httpVersionMajor === 1 ? connectionOf(request.socket) : undefined;
    if (connection === undefined) return;
    connection.asked();
    response.once('close', connection.answered);
  });
  if (upgrade === undefined) return;
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    connectionOf(request.socket)?.asked();
    upgrade(request, socket, head);
  });
}

function isLoopback({ remoteAddress = '' }: Socket): boolean {
  return /^(::ffff:)?127\.|^::1$/.test(remoteAddress);
}

/** Only WebSockets are handed over; other upgrades, such as `h2c`, are answered as HTTP/1.1 requests. */
function upgrading(upgrade: UpgradeListener | undefined): { shouldUpgradeCallback(request: IncomingMessage): boolean } {
  const wanted = upgrade !== undefined;
  return { shouldUpgradeCallback: ({ headers }) => wanted && /^websocket$/i.test(headers.upgrade ?? '') };
}

/** Lets the fast path see each stream first, in turns; the rest goes to Node's own listener, which makes a request and a response of it. */
function askFirst(server: Http2Server | Http2SecureServer, fastPath: FastPath): void {
  const rest = server.listeners('stream');
  server.removeAllListeners('stream');
  const ask = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]): void => {
    const handOver = (read?: Uint8Array): void => {
      if (read !== undefined) bodyRead.set(stream, read);
      for (const listener of rest) listener.call(server, stream, headers, flags, rawHeaders);
    };
    if (!fastPath(stream, headers, handOver)) handOver();
  };
  server.on('stream', (stream: ServerHttp2Stream, ...rest: [IncomingHttpHeaders, number, string[]]) => {
    // While it waits, nobody else listens; without a listener, an error would end the process.
    stream.on('error', () => {});
    enterInTurns(stream.session ?? stream, {
      isGone: () => stream.destroyed,
      enter: () => ask(stream, ...rest),
    });
  });
}

function trackSessions(
  http2: Http2Server | Http2SecureServer,
  server: Server,
  clock: Clock,
  log: Log,
): ReadonlySet<Http2Session> {
  const sessions = new Set<Http2Session>();
  const floods = watchFloods(clock, log);
  server.once('close', () => floods[Symbol.dispose]());
  http2.on('session', (session) => {
    sessions.add(session);
    connectionOf(session.socket)?.speaksHttp2(session);
    floods.add(session);
    session.setLocalWindowSize(windowBytes);
    session.on('close', () => sessions.delete(session));
    session.on('error', (error) => log.debug('an HTTP/2 connection failed', { error: errorText(error) }));
  });
  return sessions;
}

function trackSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // A reset connection concerns only its client; without a listener it would end the process.
    socket.on('error', () => {});
  });
  return sockets;
}

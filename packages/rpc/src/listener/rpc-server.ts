/**
 * The one-port server (D3).
 *
 * States: created → listening → draining → closed. Draining: no new connections; clients are told to leave; running calls may finish for
 * `drainMs`; then they are aborted as UNAVAILABLE; `abortMs` later, open connections are cut.
 */
import { type Clock, type Log, type LogFields, noProxies, systemClock, type TrustedProxies } from '@platform/base';
import { createCodecs } from '../codecs/codecs.ts';
import type { PageRule } from '../codecs/cors.ts';
import { type ForwardCalls, forwarded } from '../codecs/forward-call.ts';
import type { ServiceBinding } from '../core/binding.ts';
import type { Call } from '../core/call.ts';
import { shutdownReason } from '../core/errors.ts';
import { standardServices } from '../standard/standard-services.ts';
import type { AdmitConnection } from './connections/accept-connection.ts';
import { type OpenConnections, openConnections } from './connections/open-connections.ts';
import { type SilentConnections, silentConnections } from './connections/silent-connections.ts';
import type { EnterRequest } from './enter-request.ts';
import { createFastPath } from './fast-path.ts';
import { abortMs, drainMs, silentMs, slowBodyMs } from './limits.ts';
import { type Address, listen, listenOnSocket } from './listen.ts';
import { createListener, type UpgradeListener } from './listeners.ts';
import type { NodeListener } from './node-types.ts';
import { createRouter } from './route-request.ts';

export interface RpcServerOptions<P> {
  /** The services to serve; health and reflection are added. */
  services: readonly ServiceBinding<P>[];
  /**
   * Identifies the caller before the body is read. Throws UNAUTHENTICATED or PERMISSION_DENIED. Must not rely on cookies of other origins.
   */
  authenticate: (call: Call) => Promise<P>;
  /** Canonical paths of methods that need no authentication, such as `/proto.rpc.v1.AuthService/Authenticate`. */
  open: readonly string[];
  /** Called for methods in `open`, health and reflection; throws to refuse the call. Default: none is refused. */
  admitOpen?: (call: Omit<Call, 'principal'>) => void;
  /** Runs everything that a request causes, so that it can be told whose work runs. Default: just runs it. */
  enter?: EnterRequest;
  /** Asked for each connection before anything of it is read. Default: every connection is served. */
  admit?: AdmitConnection;
  /** Judges requests that pages can have sent. Default: pages of every origin may call, because only a token authorizes them. */
  pageRule?: PageRule;
  /** Calls that other servers answer. Default: none. */
  forwardCalls?: ForwardCalls<P>;
  /** Answers every request that is not a call. Its `url` is as the peer sent it. */
  fallback: NodeListener;
  /** Takes over WebSocket connections; without it they are treated like any other request. */
  upgrade?: UpgradeListener;
  /** PEM certificate chain and private key; `later`: TLS connections fail until `setTls`; absent: plaintext. */
  tls?: { cert: string; key: string } | 'later';
  /** Under TLS: whether clients on this computer may also use plaintext. Default false. */
  plaintextOnLoopback?: boolean;
  log: Log;
  /** Log fields about the caller, for calls that fail through a fault on our side. Default: none. */
  callerFields?: (principal: P) => LogFields;
  /**
   * Maximum bytes of one request message, before and after decompression; more is RESOURCE_EXHAUSTED. Default 32 MiB, the most that public
   * machine-servers send.
   */
  maxMessageBytes?: number;
  /** Bounds the connections that have not sent it yet. Default: those of the process. */
  silentConnections?: SilentConnections;
  /** Bounds all open connections. Default: those of the process. */
  openConnections?: OpenConnections;
  /** Reverse proxies that say for whom they ask. Default: none. */
  trustedProxies?: TrustedProxies;
  /** Default: the system's. */
  clock?: Clock;
}

export interface RpcServer<P = unknown> extends AsyncDisposable {
  /** Starts to serve. Throws a PlatformError that names the port on failure. */
  listen(address: Address): Promise<Address>;
  /** Starts to serve on a Unix socket, in place of `listen`. Throws a PlatformError that names the path on failure. */
  listenOnSocket(path: string): Promise<void>;
  /** Also serves these services, those of modules, in place of those of the last call. */
  setAdded(services: readonly ServiceBinding<P>[]): void;
  /** New connections get this certificate; open ones keep theirs. Only for a server created with TLS. */
  setTls(tls: { cert: string; key: string }): void;
  /**
   * Drains and closes; see the states above. `graceMs`: how long running calls may finish (default 3 s). Repeated calls wait for the same
   * end.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

export function createRpcServer<P>(options: RpcServerOptions<P>): RpcServer<P> {
  const { log, clock = systemClock, maxMessageBytes = 32 * 1024 * 1024, fallback } = options;
  const shutdown = new AbortController();
  const { authenticate } = options;
  let added: readonly ServiceBinding<P>[] = [];
  const standard = standardServices<P>(options.services, () => added);
  const services = [...options.services, ...standard.services];
  const open = new Set([...options.open, ...standard.open]);
  const common = {
    authenticate,
    admitOpen: options.admitOpen,
    maxMessageBytes,
    shutdownSignal: shutdown.signal,
    callerFields: options.callerFields ?? (() => ({})),
    clock,
    log,
  };
  const codecs = createCodecs<P>({ ...common, services, open });
  const route = createRouter({
    codecs,
    findForwarded: options.forwardCalls && forwarded(options.forwardCalls, common),
    fallback,
    enter: options.enter,
    pageRule: options.pageRule,
    slowBodyMs,
    clock,
    log,
  });
  let draining = false;
  const listener: NodeListener = (request, response) => {
    if (draining && request.httpVersionMajor === 1) response.setHeader('connection', 'close');
    route(request, response);
  };
  const { upgrade, tls } = options;
  const port = createListener({
    tls,
    plaintextOnLoopback: options.plaintextOnLoopback ?? false,
    fastPath: createFastPath({ codecs, enter: options.enter, shutdownSignal: shutdown.signal, clock, log }),
    upgrade,
    listener,
    accept: {
      admit: options.admit,
      silent: options.silentConnections ?? silentConnections,
      open: options.openConnections ?? openConnections,
      silentMs,
      proxies: options.trustedProxies ?? noProxies,
      clock,
    },
    clock,
    log,
  });
  let closed: Promise<void> | undefined;

  /** Resolves when no connection is open, or after `ms`. */
  const emptied = async (ms: number): Promise<void> => {
    const done = new AbortController();
    const onClose = (): void => {
      if (port.sockets.size === 0) done.abort();
    };
    for (const socket of port.sockets) socket.once('close', onClose);
    onClose();
    await clock.sleep(ms, done.signal).catch(() => {});
    for (const socket of port.sockets) socket.off('close', onClose);
  };

  const close = async (graceMs: number): Promise<void> => {
    draining = true;
    const stopped = port.server.listening
      ? new Promise<void>((resolve) => port.server.close(() => resolve()))
      : undefined;
    port.goAway();
    await emptied(graceMs);
    shutdown.abort(shutdownReason());
    port.goAway();
    await emptied(abortMs);
    for (const socket of port.sockets) socket.destroy();
    await stopped;
  };

  return {
    listen: (address) => listen(port.server, address),
    listenOnSocket: (path) => listenOnSocket(port.server, path),
    setAdded(services) {
      codecs.setAdded(services);
      added = services;
    },
    setTls: (next) => port.setTls(next),
    close({ graceMs = drainMs } = {}) {
      closed ??= close(graceMs);
      return closed;
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

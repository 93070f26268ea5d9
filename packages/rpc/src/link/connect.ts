/** A link to a cloud or a machine: one gRPC connection and one token for any number of clients. */

import type { Duplex } from 'node:stream';
import type { DescService } from '@bufbuild/protobuf';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { type Clock, failedPrecondition, invalidArgument, unavailable, unimplemented } from '@platform/base';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { maxMessageDepth } from '../core/max-message-depth.ts';
import { maxAnswerElements } from '../core/request-limits.ts';
import type { Vocabulary } from '../edge/api-names.ts';
import { AccessToken } from './access-token.ts';
import { Session, type SessionState } from './connection/session.ts';
import { isLoopback, loopbackLookup } from './loopback.ts';
import { CheckedStreams } from './transport/checked-streams.ts';
import { type HeadersOf, LinkTransport } from './transport/link-transport.ts';
import { type PlainBody, PlainRequests, type PutOptions } from './transport/plain-requests.ts';
import { publicTransport } from './transport/public-transport.ts';
import { UnaryTransport } from './transport/unary-transport.ts';

export type { Client, PlainBody, PutOptions };

export interface Credentials {
  /** Key id for `api-key`, part id for `robot-secret`. */
  entity: string;
  type: string;
  payload: string;
}

export interface LinkOptions {
  /** `http://host:port` (HTTP/2 by prior knowledge) or `https://host:port`. */
  baseUrl: string;
  /** Path of a Unix socket to connect to in place of the host and port of `baseUrl`. */
  socketPath?: string | undefined;
  /**
   * The peer is a process of this computer: it is not asked by PING whether it still answers, because its end is noticed anyway, and it may be
   * busy for longer. Default: whether there is a `socketPath`.
   */
  isLocal?: boolean;
  /**
   * How long nothing may arrive while calls run before the peer is asked by PING whether it still answers. Default 15 s. Short where calls
   * are: each PING of a long one costs both sides a packet.
   */
  callSilentMs?: number | undefined;
  /** How errors name the other side. Default: the origin of `baseUrl`. */
  peerName?: string;
  /** `rdk`: calls `/viam.…` and spells API names `rdk:…`, for peers that know only the public names. Default `core`. */
  vocabulary?: Vocabulary;
  /** Exchanged once for a token, and again when the token is refused. If absent, calls carry no authorization. */
  credentials?: Credentials;
  /** Allows sending credentials in plaintext to another computer. Default false: only to loopback (D16). */
  allowInsecureCredentials?: boolean;
  /** PEM certificates to trust instead of the system's. */
  ca?: string | undefined;
  userAgent?: string;
  /** Deadline of unary and client-streaming calls that set none, with the sign-in that they wait for. Default 30 s; 0: no deadline. */
  timeoutMs?: number;
  /** Ends calls that have no signal of their own. */
  signal?: AbortSignal | undefined;
  /** Maximum bytes of one response message. Default 32 MiB. */
  maxMessageBytes?: number;
  /**
   * Maximum fields and elements of one response message (D48). Default: no limit. Servers set `maxAnswerElements`, because decoding holds
   * their event loop.
   */
  maxElements?: number;
  /** Called after each call: whether the peer answered, or nobody did. */
  onReach?: ((isAnswered: boolean) => void) | undefined;
  /** Of the connection, not of deadlines. Default: the system's. */
  clock?: Clock;
}

export type LinkState = SessionState;

export interface Link extends AsyncDisposable {
  /** A typed client. Its calls throw PlatformError with the server's code, or `unavailable` if it cannot be reached. */
  client<S extends DescService>(service: S): Client<S>;
  /** The same link; each call also sends these headers. Those of the call itself come first. */
  withHeaders(headersOf: HeadersOf): Pick<Link, 'client'>;
  /**
   * Sends a long body to a route of plain HTTP, with the link's token; resolves to its answer, parsed from JSON. It never sends a body
   * twice.
   *
   * @throws the server's error; unimplemented if the answer is not from our server; unavailable if it cannot be reached
   */
  put(body: PlainBody, options: PutOptions): Promise<unknown>;
  readonly state: LinkState;
  /** Ends the connection, and running calls as UNAVAILABLE. The next call opens another one. */
  reconnect(): void;
  /** This computer now has these addresses: replaces connections that this breaks, and asks the peers of others. */
  networkChanged(addresses: ReadonlySet<string>): void;
}

export function connect(options: LinkOptions): Link {
  const { baseUrl, credentials, timeoutMs = 30_000, maxMessageBytes = defaultMessageBytes } = options;
  const { userAgent = 'platform-rpc', signal } = options;
  const url = parseBaseUrl(baseUrl);
  if (credentials !== undefined) assertSafe(url, options.allowInsecureCredentials ?? false);
  const { ca, socketPath, callSilentMs, clock } = options;
  const isLocal = options.isLocal ?? socketPath !== undefined;
  // What is sent in plaintext reaches nobody else, even if a name server says otherwise.
  const isSecret = credentials !== undefined && url.protocol === 'http:' && options.allowInsecureCredentials !== true;
  const lookup = isSecret ? loopbackLookup : undefined;
  const session = new Session({ authority: url.origin, ca, socketPath, isLocal, callSilentMs, lookup, clock });
  const { maxElements = Number.POSITIVE_INFINITY } = options;
  const grpc = transportOf(url.origin, session, { readMaxBytes: maxMessageBytes, maxElements });
  const inner = options.vocabulary === 'rdk' ? publicTransport(grpc) : grpc;
  const common = { inner, baseUrl: options.peerName ?? url.origin, timeoutMs, signal, userAgent };
  const signIn = createClient(AuthService, new LinkTransport({ ...common, token: undefined }));
  const token =
    credentials === undefined
      ? undefined
      : new AccessToken(async () => {
          const { entity, type, payload } = credentials;
          const { accessToken } = await signIn.authenticate({ entity, credentials: { type, payload } });
          return accessToken;
        });
  const transport = new LinkTransport({ ...common, token, onReach: options.onReach });
  return linkOf(transport, session, new PlainRequests(url.origin, { ca, socketPath, lookup }));
}

function parseBaseUrl(baseUrl: string): URL {
  const url = URL.parse(baseUrl);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw invalidArgument(
      `expected an address such as http://127.0.0.1:8080 or https://cloud.example, found "${baseUrl}"`,
    );
  }
  return url;
}

function assertSafe(url: URL, allowed: boolean): void {
  if (url.protocol === 'https:' || allowed || isLoopback(url.hostname)) return;
  throw failedPrecondition(
    `the credentials would be sent to ${url.host} in plaintext, where others can read them: use https://, or allow insecure credentials explicitly`,
  );
}

export interface LinkOverOptions {
  readonly stream: Duplex;
  /** How errors name the other side. */
  readonly peerName: string;
  readonly userAgent: string;
  /** Of the connection. Default: the system's. */
  readonly clock?: Clock;
}

/** A link over a stream instead of a socket: HTTP/2 without TLS and without credentials. Ends with the stream. */
export function connectOver({ stream, peerName, userAgent, clock }: LinkOverOptions): Link {
  // The name is never looked up.
  const authority = 'http://tunnel';
  const session = new Session({ authority, stream, clock });
  const inner = transportOf(authority, session, { readMaxBytes: defaultMessageBytes, maxElements: maxAnswerElements });
  const transport = new LinkTransport({
    ...{ inner, baseUrl: peerName, userAgent, token: undefined, signal: undefined },
    // Calls end with their callers.
    timeoutMs: 0,
  });
  return linkOf(transport, session, undefined);
}

const defaultMessageBytes = 32 * 1024 * 1024;

function transportOf(
  baseUrl: string,
  session: Session,
  limits: { readonly readMaxBytes: number; readonly maxElements: number },
): Transport {
  // Accepts anything that the cloud can store.
  const common = { session, ...limits, recursionLimit: maxMessageDepth };
  return new UnaryTransport({ ...common, inner: new CheckedStreams({ ...common, baseUrl }) });
}

/** @param plain undefined: there is only the connection for calls */
function linkOf(transport: LinkTransport, session: Session, plain: PlainRequests | undefined): Link {
  return {
    client: (service) => createClient(service, transport),
    withHeaders: (headersOf) => ({ client: (service) => createClient(service, transport.withHeaders(headersOf)) }),
    async put(body, options) {
      if (session.state === 'closed') throw unavailable('this link is closed');
      if (plain === undefined) throw unimplemented('this link carries only calls');
      return transport.withToken(options.signal, (headers) => plain.put(body, headers, options));
    },
    get state() {
      return session.state;
    },
    reconnect: () => session.reconnect(),
    networkChanged: (addresses) => session.networkChanged(addresses),
    async [Symbol.asyncDispose]() {
      session.close();
      plain?.[Symbol.dispose]();
    },
  };
}

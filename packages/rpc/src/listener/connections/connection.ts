/**
 * What is known about an accepted connection, from its first byte to its end: whose it is, and whether it has asked for anything yet.
 *
 * States: silent → busy (the head of a request is complete) ⇄ idle (all its requests were answered). Silent → cut (too many are silent, or it
 * was for 10 s). Idle → leaving (too many are open) → cut after 10 s, unless the peer has ended it.
 */
import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { type Clock, networkOf, peerAddressOf, type TrustedProxies, withoutPort } from '@platform/base';
import { lingerMs } from '../limits.ts';
import { forwardedAddress } from './forwarded-address.ts';
import type { Endable, OpenConnections } from './open-connections.ts';
import { readProxyHeader } from './proxy-header.ts';
import type { SilentConnections } from './silent-connections.ts';

export interface AcceptOptions {
  readonly silent: SilentConnections;
  readonly open: OpenConnections;
  readonly silentMs: number;
  readonly proxies: TrustedProxies;
  readonly clock: Clock;
}

/** A property of sockets. Node's stand-ins for the sockets of HTTP/2 pass it through. */
const ofSocket = Symbol('connection');

export class Connection implements Endable {
  readonly #socket: Socket;
  readonly #options: AcceptOptions;
  readonly #timer: Disposable;
  #endCounting: () => void = () => {};
  /** `address:port` of the client, as far as the connection itself tells. */
  #address: string;
  /** Its requests say whose they are. */
  #isProxy: boolean;
  #isSilent = true;
  /** In progress. */
  #requests = 0;
  #session: Http2Session | undefined;

  constructor(socket: Socket, options: AcceptOptions) {
    const { silentMs, proxies, clock } = options;
    this.#socket = socket;
    this.#options = options;
    this.#address = addressOf(socket);
    this.#isProxy = proxies.has(socket.remoteAddress);
    this.#count();
    // If the process was stalled for that long, a request may be waiting: it is read first.
    this.#timer = clock.after(silentMs, () => setImmediate(() => this.#isSilent && this.cut()));
    options.open.opened();
    socket.once('close', () => {
      this.#spoke();
      options.open.closed(this);
    });
    this.alsoKnownAs(socket);
  }

  get isProxy(): boolean {
    return this.#isProxy;
  }

  /** The head of a request is complete. `answered` must follow, unless the request takes over the connection. */
  asked(): void {
    this.#spoke();
    this.#requests++;
    this.#options.open.busy(this);
  }

  /** A request has ended, in whatever way. */
  readonly answered = (): void => {
    this.#requests--;
    if (this.#requests === 0 && !this.#socket.destroyed) this.#options.open.idle(this);
  };

  /** @param socket over this connection: its own, or that of TLS */
  alsoKnownAs(socket: Socket): void {
    Reflect.set(socket, ofSocket, this);
  }

  /** It speaks HTTP/2: clients are told before it is cut, so that they know that no request was lost. */
  speaksHttp2(session: Http2Session): void {
    this.#session = session;
    session.on('stream', (stream) => {
      this.asked();
      stream.once('close', this.answered);
    });
  }

  /** Idle connections only. */
  leave(): void {
    if (this.#session === undefined) {
      this.cut();
      return;
    }
    // Says that no request was lost, and ends the connection after what is still to be sent; the peer may not read it.
    this.#session.close();
    const ending = this.#options.clock.after(lingerMs, () => this.cut());
    this.#socket.once('close', () => ending[Symbol.dispose]());
  }

  cut(): void {
    this.#spoke();
    if (this.#session === undefined) return void this.#socket.destroy();
    this.#session.destroy();
    // Node closes it only after all writes, which a peer that does not read can prevent.
    setImmediate(() => this.#socket.destroy());
  }

  /** `address:port` of the client, without the port if nobody told it. @param forwardedFor the header of the request */
  clientOf(forwardedFor: string | readonly string[] | undefined): string {
    if (!this.#isProxy || forwardedFor === undefined) return this.#address;
    return forwardedAddress(String(forwardedFor), this.#options.proxies) ?? this.#address;
  }

  /**
   * For a trusted proxy: takes a PROXY header off the connection, if it begins with one.
   *
   * @param done not called if the connection ended before that
   */
  readProxyHeader(done: () => void): void {
    const socket = this.#socket;
    let seen: Buffer = Buffer.alloc(0);
    const read = (): void => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      seen = Buffer.concat([seen, chunk]);
      const header = readProxyHeader(seen);
      if (header === 'unfinished') return;
      socket.off('readable', read);
      if (header === 'broken') return void socket.destroy();
      const rest = header === 'absent' ? seen : seen.subarray(header.bytes);
      if (header !== 'absent' && header.client !== undefined) this.#isOf(header.client);
      if (rest.length > 0) socket.unshift(rest);
      done();
    };
    socket.on('readable', read);
  }

  #isOf(client: string): void {
    this.#address = client;
    this.#isProxy = this.#options.proxies.has(withoutPort(client));
    this.#endCounting();
    this.#count();
  }

  /** The connections of a proxy belong to many; only its PROXY header tells to whom. A Unix socket has no address. */
  #count(): void {
    const address = this.#isProxy || this.#address === '' ? undefined : networkOf(this.#address);
    this.#endCounting = this.#options.silent.add(address, () => this.cut());
  }

  #spoke(): void {
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#timer[Symbol.dispose]();
    this.#endCounting();
  }
}

/** The connection of a socket, or of what stands for one in a request or session; undefined if it is gone. */
export function connectionOf(socket: object | undefined): Connection | undefined {
  try {
    const found: unknown = socket === undefined ? undefined : Reflect.get(socket, ofSocket);
    return found instanceof Connection ? found : undefined;
  } catch {
    // The stand-in of a socket that is gone.
    return undefined;
  }
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return remoteAddress === undefined ? '' : peerAddressOf(remoteAddress, remotePort);
}

/** Reaches a machine by its name or address, from a browser. */
import { type Clock, systemClock } from '@platform/base/portable';
import { type Credentials, connectWeb } from '@platform/rpc/portable';
import type { Engine } from '../peer.ts';
import type { Reached } from './path.ts';
import { floorOf, reach, type WantedPath } from './reach.ts';
import { readAddress } from './read-address.ts';

export interface ReachMachineWebOptions {
  /** The full name of a part, or `host:port` or `http(s)://host:port` of a machine. */
  readonly address: string;
  /** Where the name's cloud is reached. Default: at the name itself, with TLS. */
  readonly cloudUrl?: string | undefined;
  /** Of the cloud, or, for an address, of the machine. Undefined: a machine that asks for none, or a `fetch` that signs in. */
  readonly credentials?: Credentials | undefined;
  /** For WebRTC; used by several machines, it belongs to the caller. Undefined: there is none here. */
  readonly engine: (() => Promise<Engine>) | undefined;
  /** Default `auto`. */
  readonly path?: WantedPath | undefined;
  /** Of the cloud. Default: that of the browser. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Deadline of unary calls that set none. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Ends calls that have no signal of their own. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the machine is no longer used. */
  readonly onClose?: (() => PromiseLike<void>) | undefined;
  readonly clock?: Clock | undefined;
}

/** Connects at the first call. @throws invalid_argument if the address cannot be read, or has no such path */
export function reachMachine(options: ReachMachineWebOptions): Reached {
  const { credentials, engine, path = 'auto', fetch, signal, timeoutMs, onClose, clock = systemClock } = options;
  const address = readAddress(options.address, options.cloudUrl);
  const baseUrl = address.kind === 'name' ? address.cloudUrl : address.url;
  const link = connectWeb({ baseUrl, credentials, fetch, timeoutMs, signal });
  return reach({ ...floorOf(address, link), link, engine, path, userAgent: '', timeoutMs, signal, onClose, clock });
}

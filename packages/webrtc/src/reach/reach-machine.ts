/** Reaches a machine by its name or address, from Node. */
import { type Clock, systemClock } from '@platform/base';
import { type Credentials, connect } from '@platform/rpc/client';
import type { Engine } from '../peer.ts';
import type { Reached } from './path.ts';
import { floorOf, reach, type WantedPath } from './reach.ts';
import { readAddress } from './read-address.ts';

export interface ReachMachineOptions {
  /** The full name of a part, or `host:port` or `http(s)://host:port` of a machine. */
  readonly address: string;
  /** Where the name's cloud is reached. Default: at the name itself, with TLS. */
  readonly cloudUrl?: string | undefined;
  /** Of the cloud, or, for an address, of the machine. Undefined: a machine that asks for none. */
  readonly credentials?: Credentials | undefined;
  /** For WebRTC; used by several machines, it belongs to the caller. Undefined: there is none here. */
  readonly engine: (() => Promise<Engine>) | undefined;
  /** Default `auto`. */
  readonly path?: WantedPath | undefined;
  /** PEM certificates to trust instead of the system's. */
  readonly ca?: string | undefined;
  /** Allows credentials over plaintext to another computer. Default false. */
  readonly allowInsecureCredentials?: boolean | undefined;
  readonly userAgent?: string | undefined;
  /** Deadline of unary calls that set none. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Ends calls that have no signal of their own. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the machine is no longer used. */
  readonly onClose?: (() => PromiseLike<void>) | undefined;
  readonly clock?: Clock | undefined;
}

/** Connects at the first call. @throws invalid_argument if the address cannot be read, or has no such path */
export function reachMachine(options: ReachMachineOptions): Reached {
  const { credentials, engine, path = 'auto', ca, signal, timeoutMs, clock = systemClock } = options;
  const { allowInsecureCredentials = false, userAgent = 'platform-reach' } = options;
  const address = readAddress(options.address, options.cloudUrl);
  const link = connect({
    ...{ ca, signal, userAgent, clock, allowInsecureCredentials },
    ...(credentials !== undefined && { credentials }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(address.kind === 'name'
      ? { baseUrl: address.cloudUrl, peerName: `the machine ${address.name} through the relay at ${address.cloudUrl}` }
      : { baseUrl: address.url, peerName: `the machine at ${address.url}` }),
  });
  const onClose = async (): Promise<void> => {
    await link[Symbol.asyncDispose]();
    await options.onClose?.();
  };
  return reach({ ...floorOf(address, link), link, engine, path, userAgent, timeoutMs, signal, clock, onClose });
}

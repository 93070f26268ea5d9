/**
 * Reaches a machine by the best path. Node and browsers differ only in the link to the cloud and in the engine, which they pass in.
 *
 * No Node: browsers load this file.
 */
import { type Clock, invalidArgument } from '@platform/base/portable';
import type { Engine } from '../peer.ts';
import { Paths } from './choose-path.ts';
import { linkDialer } from './dial-link.ts';
import type { Connection, Path, Reached } from './path.ts';
import { type Address, partIdOf } from './read-address.ts';

/** `auto`: the best one that works. The others force one. */
export type WantedPath = 'auto' | Path;

export interface ReachOptions {
  /** To the cloud, or for `direct` to the machine. */
  readonly link: Connection;
  /** The same link, whose calls name the machine: the relay, or the machine itself. */
  readonly floor: Connection;
  readonly floorPath: 'relay' | 'direct';
  /** The full name of the machine. */
  readonly host: () => Promise<string>;
  /** Undefined: there is none here. Asked for at the first attempt to connect over WebRTC. */
  readonly engine: (() => Promise<Engine>) | undefined;
  readonly path: WantedPath;
  readonly userAgent: string;
  /** Deadline of calls over WebRTC that set none. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Ends calls that have no signal of their own. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the machine is no longer used. */
  readonly onClose?: (() => PromiseLike<void>) | undefined;
  readonly clock: Clock;
}

/** The floor for a machine that is called by its address. @param link to its cloud, or to itself */
export function floorOf(address: Address, link: Connection): Pick<ReachOptions, 'floor' | 'floorPath' | 'host'> {
  if (address.kind === 'direct') {
    const { hostname } = new URL(address.url);
    return { floor: link, floorPath: 'direct', host: async () => hostname };
  }
  const { name } = address;
  const partId = partIdOf(name);
  // Only with the id of the part are questions about the machine's own methods passed on to it.
  const headers = { 'rpc-host': name, ...(partId !== undefined && { 'platform-part': partId }) };
  return { floor: withFixedHeaders(link, headers), floorPath: 'relay', host: async () => name };
}

/** The link; each call also sends these headers. */
export function withFixedHeaders(link: Connection, headers: Readonly<Record<string, string>>): Connection {
  return {
    client: (service) => link.withHeaders(async () => headers).client(service),
    withHeaders: (headersOf) =>
      link.withHeaders(async (method, signal) => ({ ...(await headersOf(method, signal)), ...headers })),
  };
}

/** @throws invalid_argument if the path cannot be had here */
export function reach(options: ReachOptions): Reached {
  const { link, floor, floorPath, host, engine, path, userAgent, timeoutMs = 30_000, signal, onClose, clock } = options;
  if (path === 'webrtc' && engine === undefined)
    throw invalidArgument('path: expected one that this program can use, found "webrtc" without an engine');
  if (path !== 'auto' && path !== 'webrtc' && path !== floorPath)
    throw invalidArgument(`path: expected "${floorPath}", "webrtc" or "auto" for this address, found "${path}"`);
  // At its own address, there is nothing better.
  const dials = path === 'webrtc' || (path === 'auto' && floorPath === 'relay');
  return new Paths({
    floor: path === 'webrtc' ? undefined : { path: floorPath, link: floor },
    dial:
      dials && engine !== undefined
        ? linkDialer({ signaling: link, host, engine, userAgent, timeoutMs, signal, clock })
        : undefined,
    onClose,
    clock,
  });
}

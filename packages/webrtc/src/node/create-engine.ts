/**
 * The engine for Node: node-datachannel in a child process, which starts with the first peer, and ends when it has had none for a while. A
 * crash ends its peers; the next call starts another process.
 */
import { type ClockAndLog, resourceExhausted } from '@platform/base';
import type { Engine, IceServer, PeerOptions } from '../peer.ts';
import { type ChildPeer, createChildPeer } from './child-peer.ts';
import { createEngineRuns, type Run } from './engine-runs.ts';
import type { NativeIceServer } from './frames.ts';
import { nativeServers } from './ice-servers.ts';

export interface EngineDeps extends ClockAndLog {
  /** The program of the child process. Undefined: the one beside this program. */
  readonly program?: URL | undefined;
  /**
   * The UDP port of all peers that answer, so that a firewall can allow it. Default 0: a free one, at each start of the process. Peers that
   * call have ports of their own.
   */
  readonly udpPort?: number | undefined;
  /** More of them at a time are refused with resource_exhausted. Default 256: 70 MB. */
  readonly maxPeers?: number;
  /** How long the process is kept without peers. Default 60,000: callers that reconnect find it. */
  readonly idleMs?: number;
}

export interface NodeEngine extends Engine {
  /** Of the child process, while there is one. */
  readonly processId: number | undefined;
}

/** Addresses of servers that were logged as not used. */
const maxSkipped = 100;

export function createEngine(deps: EngineDeps): NodeEngine {
  const { clock, log, program, udpPort = 0, maxPeers = 256, idleMs = 60_000 } = deps;
  const runs = createEngineRuns({ clock, log, program, udpPort });
  const skipped = new Set<string>();
  let idle: Disposable | undefined;
  let lastNumber = 0;
  let creating = 0;

  const stopWhenIdle = (): void => {
    if (runs.current === undefined || runs.current.peers.size > 0 || creating > 0) return;
    idle?.[Symbol.dispose]();
    idle = clock.after(idleMs, () => void runs.stop());
  };
  const serversOf = (servers: readonly IceServer[]): NativeIceServer[] =>
    nativeServers(servers, (url, reason) => {
      if (skipped.has(url) || skipped.size === maxSkipped) return;
      skipped.add(url);
      log.warn('a server for WebRTC is not used', { url, reason });
    });
  const add = ({ child, peers }: Run, { iceServers }: PeerOptions): ChildPeer => {
    const number = ++lastNumber;
    const made = createChildPeer({
      clock,
      tell: (message) => child.tell(number, message),
      send: (message) => child.send(number, message),
      onEnd() {
        peers.delete(number);
        stopWhenIdle();
      },
    });
    peers.set(number, made);
    child.tell(number, { type: 'create', iceServers: serversOf(iceServers) });
    return made;
  };
  return {
    get processId() {
      return runs.current?.child.processId;
    },
    get isMissing() {
      return runs.isMissing;
    },
    async createPeer(options) {
      if ((runs.current?.peers.size ?? 0) + creating >= maxPeers)
        throw resourceExhausted(
          `expected at most ${maxPeers} WebRTC connections at a time; try again when one has ended`,
        );
      creating++;
      idle?.[Symbol.dispose]();
      try {
        return add(await runs.running(), options).peer;
      } finally {
        creating--;
        stopWhenIdle();
      }
    },
    async [Symbol.asyncDispose]() {
      const closed = runs[Symbol.asyncDispose]();
      // The last peer that has just ended has set it.
      idle?.[Symbol.dispose]();
      await closed;
    },
  };
}

/**
 * The engine for Node: node-datachannel in a child process, which starts with the first peer, and ends when it has had none for a while. A
 * crash ends its peers; the next call starts another process.
 *
 * States: stopped → starting → running → (idle, or disposed) stopping → stopped.
 */
import { backoffMs, type ClockAndLog, failedPrecondition, resourceExhausted, unavailable } from '@platform/base';
import type { Engine, IceServer, PeerOptions } from '../peer.ts';
import { type ChildPeer, createChildPeer } from './child-peer.ts';
import { type EngineChild, LibraryMissing, startEngineChild } from './engine-child.ts';
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

/** Crashes that follow each other sooner count together. */
const calmMs = 60_000;
const crashBackoff = { firstMs: 500, maxMs: 30_000, jitter: 0 };

/** Addresses of servers that were logged as not used. */
const maxSkipped = 100;

interface Run {
  readonly child: EngineChild;
  readonly peers: Map<number, ChildPeer>;
}

export function createEngine(deps: EngineDeps): NodeEngine {
  const { clock, log, program, udpPort = 0, maxPeers = 256, idleMs = 60_000 } = deps;
  const skipped = new Set<string>();
  let run: Run | undefined;
  let stopping: Promise<void> = Promise.resolve();
  let missing: LibraryMissing | undefined;
  let idle: Disposable | undefined;
  let isDisposed = false;
  let lastNumber = 0;
  let creating = 0;
  let crashes = { count: 0, lastMs: Number.NEGATIVE_INFINITY };

  const start = (): Run => {
    const peers = new Map<number, ChildPeer>();
    const onFrame: Parameters<typeof startEngineChild>[0]['onFrame'] = (frame) => peers.get(frame.peer)?.take(frame);
    const child = startEngineChild({ program, udpPort, clock, onFrame });
    const started: Run = { child, peers };
    void child.ended.then((how) => {
      if (run === started) run = undefined;
      for (const peer of [...peers.values()]) peer.lose(`the WebRTC engine has ended: ${how ?? 'it was stopped'}`);
      if (how === undefined) return;
      const isNew = clock.monotonic() - crashes.lastMs > calmMs;
      crashes = { count: isNew ? 1 : crashes.count + 1, lastMs: clock.monotonic() };
      log.error('the WebRTC engine died; its connections are lost, and the next call starts it again', {
        reason: how,
        processId: child.processId ?? 0,
      });
    });
    run = started;
    return started;
  };
  const stop = (): Promise<void> => {
    idle?.[Symbol.dispose]();
    idle = undefined;
    const stopped = run;
    run = undefined;
    // The next process may need the port of this one.
    if (stopped !== undefined) stopping = stopped.child.stop();
    return stopping;
  };
  const stopWhenIdle = (): void => {
    if (isDisposed || run === undefined || run.peers.size > 0 || creating > 0) return;
    idle?.[Symbol.dispose]();
    idle = clock.after(idleMs, () => void stop());
  };
  const running = async (): Promise<Run> => {
    if (isDisposed) throw failedPrecondition('the WebRTC engine was closed');
    if (missing !== undefined) throw missing;
    await stopping;
    const waitMs = crashes.lastMs + waitAfter(crashes.count) - clock.monotonic();
    if (run === undefined && waitMs > 0)
      throw unavailable(
        `the WebRTC engine died ${crashes.count} times in a row; it is started again in ${Math.ceil(waitMs / 1000)} s`,
      );
    const current = run ?? start();
    try {
      await current.child.ready;
    } catch (caught) {
      if (caught instanceof LibraryMissing) {
        if (missing === undefined) log.warn(caught.message, { reason: String(caught.cause) });
        missing = caught;
      }
      throw caught;
    }
    if (isDisposed) throw failedPrecondition('the WebRTC engine was closed');
    return current;
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
      return run?.child.processId;
    },
    async createPeer(options) {
      if ((run?.peers.size ?? 0) + creating >= maxPeers)
        throw resourceExhausted(
          `expected at most ${maxPeers} WebRTC connections at a time; try again when one has ended`,
        );
      creating++;
      idle?.[Symbol.dispose]();
      try {
        return add(await running(), options).peer;
      } finally {
        creating--;
        stopWhenIdle();
      }
    },
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      for (const peer of [...(run?.peers.values() ?? [])]) peer.lose('the WebRTC engine was closed');
      await stop();
    },
  };
}

/** A single crash goes unnoticed. */
function waitAfter(crashes: number): number {
  return crashes < 3 ? 0 : backoffMs(crashes - 2, crashBackoff);
}

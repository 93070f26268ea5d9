/**
 * Keeps at most one process of the engine: starts it when it is needed, and again after a crash.
 *
 * States: stopped → starting → running → stopping → stopped; after three crashes in a row it waits before the next start.
 */
import { backoffMs, type ClockAndLog, failedPrecondition, unavailable } from '@platform/base';
import type { ChildPeer } from './child-peer.ts';
import { type EngineChild, LibraryMissing, startEngineChild } from './engine-child.ts';

export interface EngineRunsDeps extends ClockAndLog {
  readonly program: URL | undefined;
  readonly udpPort: number;
}

export interface Run {
  readonly child: EngineChild;
  readonly peers: Map<number, ChildPeer>;
}

export interface EngineRuns extends AsyncDisposable {
  /** Undefined while there is no process. */
  readonly current: Run | undefined;
  /** Whether this computer has no library, as a start has shown. */
  readonly isMissing: boolean;
  /** One that takes peers. @throws unavailable if there is no library, or the process cannot start; failed_precondition after the end */
  running(): Promise<Run>;
  stop(): Promise<void>;
}

/** Crashes that follow each other sooner count together. */
const calmMs = 60_000;
const crashBackoff = { firstMs: 500, maxMs: 30_000, jitter: 0 };

export function createEngineRuns({ clock, log, program, udpPort }: EngineRunsDeps): EngineRuns {
  let current: Run | undefined;
  let stopping: Promise<void> = Promise.resolve();
  let missing: LibraryMissing | undefined;
  let isClosed = false;
  let crashes = { count: 0, lastMs: Number.NEGATIVE_INFINITY };

  const start = (): Run => {
    const peers = new Map<number, ChildPeer>();
    const child = startEngineChild({
      ...{ program, udpPort, clock },
      onFrame: (frame) => peers.get(frame.peer)?.take(frame),
    });
    const started: Run = { child, peers };
    void child.ended.then((how) => {
      if (current === started) current = undefined;
      for (const peer of [...peers.values()]) peer.lose(`the WebRTC engine has ended: ${how ?? 'it was stopped'}`);
      if (how === undefined) return;
      const isNew = clock.monotonic() - crashes.lastMs > calmMs;
      crashes = { count: isNew ? 1 : crashes.count + 1, lastMs: clock.monotonic() };
      log.error('the WebRTC engine died; its connections are lost, and the next call starts it again', {
        reason: how,
        processId: child.processId ?? 0,
      });
    });
    current = started;
    return started;
  };
  const stop = (): Promise<void> => {
    const stopped = current;
    current = undefined;
    // The next process may need the port of this one.
    if (stopped !== undefined) stopping = stopped.child.stop();
    return stopping;
  };
  const requireOpen = (): void => {
    if (isClosed) throw failedPrecondition('the WebRTC engine was closed');
  };
  return {
    get current() {
      return current;
    },
    get isMissing() {
      return missing !== undefined;
    },
    async running() {
      if (missing !== undefined) throw missing;
      requireOpen();
      await stopping;
      requireOpen();
      const waitMs = crashes.lastMs + waitAfter(crashes.count) - clock.monotonic();
      if (current === undefined && waitMs > 0)
        throw unavailable(
          `the WebRTC engine died ${crashes.count} times in a row; it is started again in ${Math.ceil(waitMs / 1000)} s`,
        );
      const run = current ?? start();
      try {
        await run.child.ready;
      } catch (caught) {
        // So that the next call starts another one.
        await run.child.ended;
        if (caught instanceof LibraryMissing) {
          if (missing === undefined) log.warn(caught.message, { reason: String(caught.cause) });
          missing = caught;
        }
        throw caught;
      }
      requireOpen();
      return run;
    },
    stop,
    [Symbol.asyncDispose]() {
      isClosed = true;
      for (const peer of [...(current?.peers.values() ?? [])]) peer.lose('the WebRTC engine was closed');
      return stop();
    },
  };
}

/** A single crash goes unnoticed. */
function waitAfter(crashes: number): number {
  return crashes < 3 ? 0 : backoffMs(crashes - 2, crashBackoff);
}

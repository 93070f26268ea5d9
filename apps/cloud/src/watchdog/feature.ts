/**
 * Ends the cloud when its event loop is stuck, and refuses callers that repeatedly hold it (ADR-0057).
 *
 * States: created (calls are followed, nothing is watched) → watching, from `start` until it is disposed.
 */
import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { type Clock, type Log, SharedTurns, siblingEntry } from '@platform/base';
import { currentCallName, type WatchSetup } from '@platform/base/watchdog';
import type { Principal } from '../access/principal.ts';
import { CurrentCall } from './current-call.ts';
import { readRefusals, refusalText, requireAllowed } from './past-ends.ts';

export interface Watchdog extends AsyncDisposable {
  /** For the thread that watches. */
  readonly setup: WatchSetup;
  /** Runs the work of a request. */
  enter<T>(request: { readonly path: string; readonly peerAddress: string }, run: () => T): T;
  /** The current call is of this caller. @throws resource_exhausted if it is refused */
  admit(principal: Principal): void;
  /** The current call has no credentials. @throws resource_exhausted if it is refused */
  admitStranger(): void;
  /** Starts to watch. @param ownThread no other thread has the setup */
  start(options: { readonly ownThread: boolean }): void;
}

const turnMs = 1_000;

export function createWatchdog(deps: {
  /** `endsFileName` in the data directory. */
  readonly file: string;
  readonly clock: Clock;
  readonly log: Log;
}): Watchdog {
  const { file, clock, log } = deps;
  const turns = new SharedTurns();
  const current = new CurrentCall((text) => turns.callBegan(text));
  const refusals = readRefusals(file, clock.now());
  for (const refusal of refusals.values()) log.warn(refusalText(refusal));
  const setup: WatchSetup = { turns: turns.buffer, endsFile: file };
  let turning: Disposable | undefined;
  let thread: Worker | undefined;

  const requireCurrent = (): void => {
    if (refusals.size > 0 && current.call !== undefined) requireAllowed(refusals, current.call, clock.now());
  };
  return {
    setup,
    enter: (request, run) => current.enter(request, run),
    admit(principal) {
      current.admit(callerId(principal));
      requireCurrent();
    },
    admitStranger: requireCurrent,
    start({ ownThread }) {
      Object.defineProperty(globalThis, currentCallName, { value: () => current.text, configurable: true });
      const turn = (): void => turns.turn(inspectorUrl() === undefined);
      // The loop may be held before the first second is over.
      turn();
      turning = clock.every(turnMs, turn);
      if (ownThread) thread = new Worker(siblingEntry(import.meta.url, './watch-thread'), { workerData: setup });
    },
    async [Symbol.asyncDispose]() {
      turning?.[Symbol.dispose]();
      turns.turn(false);
      Reflect.deleteProperty(globalThis, currentCallName);
      await thread?.terminate();
    },
  };
}

function callerId(principal: Principal): string {
  switch (principal.kind) {
    case 'key':
      return `key:${principal.keyId}`;
    case 'person':
      return `person:${principal.personId}`;
    case 'part':
      return `part:${principal.partId}`;
  }
}

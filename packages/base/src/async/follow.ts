/**
 * The one loop behind everything long-lived: loader, sealer, triggers, usage, retention, reconciler.
 *
 * States: idle (waiting for wake or `idleMs`) → stepping → idle | backing off (the step threw) → stepping … → stopped. A step does at most
 * one bounded piece of work and reports whether there may be more. A failed step is retried forever, with increasing delays. Recognising and
 * skipping poison is the step's task (I8), because only the step knows its unit of work.
 */

import { errorText } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Backoff, backoffMs } from './backoff.ts';
import type { Clock } from './clock.ts';

export interface FollowOptions {
  readonly name: string;
  /** Does one piece of work. Returns true if there may be more: it is then called again at once. */
  readonly step: (signal: AbortSignal) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
  /** Wakes up by itself after this long without a wake(). Default 1,000 ms. */
  readonly idleMs?: number;
  readonly backoff?: Backoff;
}

export interface Follower extends AsyncDisposable {
  readonly name: string;
  /** There may be work: runs a step now if idle, or once more after the running step. */
  wake(): void;
  /** The reason of a failure may be gone: ends the wait after it. Does nothing else. */
  retry(): void;
  /** Consecutive failures; 0 when healthy. Shows that a follower is stuck. */
  readonly failures: number;
}

/** Starts the loop. Disposing aborts the signal and waits for the running step. */
export function follow(options: FollowOptions): Follower {
  const { name, step, clock, log, idleMs = 1_000, backoff = {} } = options;
  const stop = new AbortController();
  let failures = 0;
  let awake = true;
  let wakeIdle = (): void => {};
  let backingOff: AbortController | undefined;

  const wake = (): void => {
    awake = true;
    wakeIdle();
  };

  const idle = async (): Promise<void> => {
    if (awake || stop.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const nap = clock.after(idleMs, resolve);
      wakeIdle = () => {
        nap[Symbol.dispose]();
        resolve();
      };
    });
  };

  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      awake = false;
      try {
        if (await step(stop.signal)) awake = true;
        if (failures > 0) log.info(`${name}: working again`, { failures });
        failures = 0;
        await idle();
      } catch (caught) {
        if (stop.signal.aborted) return;
        failures++;
        const waitMs = backoffMs(failures, backoff);
        log.error(`${name}: step failed, trying again`, {
          error: errorText(caught),
          failures,
          waitMs: Math.round(waitMs),
        });
        backingOff = new AbortController();
        await clock.sleep(waitMs, backingOff.signal).catch(() => {});
        backingOff = undefined;
      }
    }
  };

  const finished = run();
  return {
    name,
    wake,
    retry: () => backingOff?.abort(),
    get failures() {
      return failures;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      backingOff?.abort();
      wake();
      await finished;
    },
  };
}

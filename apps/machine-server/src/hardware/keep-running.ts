/** Keeps a program running: when it ends, restarts it after delays that increase from 1 s to 1 min. */
import { backoffMs, type Clock, errorText, type Log } from '@platform/base';
import type { Program } from './start-program.ts';

export interface KeepRunningOptions {
  /** Names the program in the log. */
  readonly name: string;
  start(): Promise<Program>;
  /** @param text how it ended, or why it could not be started again */
  onEnd(text: string): void;
  readonly clock: Clock;
  readonly log: Log;
}

/** A program that ran for this long did not fail at its start. */
const goodRunMs = 60_000;

/** @throws what the first start throws. Disposing ends the program. */
export async function keepRunning({ name, start, onEnd, clock, log }: KeepRunningOptions): Promise<AsyncDisposable> {
  const stop = new AbortController();
  let program: Program | undefined = await start();
  const run = async (): Promise<void> => {
    let failures = 0;
    let sinceMs = clock.monotonic();
    while (!stop.signal.aborted) {
      const text = program === undefined ? 'it did not start' : (await program.ended).text;
      // Its child processes may outlive it.
      await program?.[Symbol.asyncDispose]();
      if (stop.signal.aborted) return;
      failures = clock.monotonic() - sinceMs >= goodRunMs ? 1 : failures + 1;
      const waitMs = backoffMs(failures, { firstMs: 1_000, maxMs: 60_000 });
      if (program !== undefined) {
        onEnd(text);
        log.warn(`${name} ended with ${text}; starting it again in ${Math.round(waitMs)} ms`);
      }
      await clock.sleep(waitMs, stop.signal).catch(() => {});
      if (stop.signal.aborted) return;
      sinceMs = clock.monotonic();
      try {
        program = await start();
      } catch (caught) {
        program = undefined;
        onEnd(errorText(caught));
        log.warn(`${name} could not be started again: ${errorText(caught)}`);
      }
    }
  };
  const finished = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await program?.[Symbol.asyncDispose]();
      await finished;
      // It may have been started while this was called.
      await program?.[Symbol.asyncDispose]();
    },
  };
}

/** Restarts a process whenever it ends: at once if it ended on request (exit code 0), otherwise after a pause that doubles each time. */
import { pause } from './pause.ts';
import type { Child, ChildExit } from './start-child.ts';

export interface KeepRunningOptions {
  /** Is already running. Absent: it is started now. */
  readonly first?: Child;
  readonly start: () => Child;
  /** Called when the process ended by itself. @param pauseMs until it is restarted */
  readonly onEnded: (exit: ChildExit, pauseMs: number) => void;
  /** From a monotonic clock. */
  readonly nowMs: () => number;
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** A process that ran this long counts as healthy: its next pause is the shortest one again. */
const healthyMs = 60_000;
/** A process that ended sooner probably did not end on request: it is not restarted without a pause. */
const shortestRunMs = 1_000;

export function keepRunning({ first, start, onEnded, nowMs }: KeepRunningOptions): AsyncDisposable {
  const over = new AbortController();
  let child = first ?? start();
  const run = async (): Promise<void> => {
    for (let pauseMs = firstPauseMs; ; ) {
      const startedMs = nowMs();
      const exit = await child.exited;
      if (over.signal.aborted) return;
      const ranMs = nowMs() - startedMs;
      const wasAsked = exit.code === 0 && ranMs >= shortestRunMs;
      if (wasAsked || ranMs >= healthyMs) pauseMs = firstPauseMs;
      onEnded(exit, wasAsked ? 0 : pauseMs);
      if (!wasAsked && !(await pause(pauseMs, over.signal))) return;
      if (!wasAsked) pauseMs = Math.min(longestPauseMs, pauseMs * 2);
      child = start();
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      over.abort();
      await child[Symbol.asyncDispose]();
      await running;
    },
  };
}

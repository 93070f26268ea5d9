/**
 * Ends a run whose work is out of proportion to its rows, such as cross joins and nested loops over few rows. A run that keeps reading or
 * answering may take until its deadline.
 */
import type { Worker } from 'node:worker_threads';
import type { Clock } from '@platform/base';
import { QueryError } from '@platform/query';

export interface Watchdog extends Disposable {
  /** Aborted with the error for the caller when the run must end. */
  readonly signal: AbortSignal;
  /** Must be called when the run has been given this many bytes of rows. */
  given(bytes: number): void;
  /** Must be called when the run has requested or returned rows. */
  went(): void;
}

/** Processor time without reading or returning a row; sorting everything that a query may hold takes half of it. */
const stallMs = 3_000;
/** The same in wall-clock time, for a run that worked at least half of that: on a busy machine it still ends within five seconds. */
const stallClockMs = 3_250;
/**
 * On a busy computer, a thread of this priority gets a twentieth of a processor and would take half a minute to reach the limit. So after
 * this wall-clock time without progress, a thread that has begun to read ends once it has worked longer than its rows justify.
 */
const lateClockMs = 2_750;
/** Processor time for a plan's first rows; then, for each byte, twice what a sort takes. */
const accountedMs = 120;
const accountedMsPerByte = 50 / (1 << 20);
/** Processor time of a run that reads little, and for each byte read: ten times what any usual expression takes. */
const freeMs = 3_000;
const msPerByte = 1_000 / (1 << 20);
const lookEveryMs = 250;

export function startWatchdog(worker: Pick<Worker, 'cpuUsage' | 'performance'>, clock: Clock): Watchdog {
  const end = new AbortController();
  const over = new AbortController();
  let bytes = 0;
  let moved = false;
  let begun = false;

  const look = async (): Promise<void> => {
    // The thread did other runs before. A thread still starting, which takes seconds on a busy computer, cannot be measured, but has done
    // no work yet.
    const fromMs = await busyMs(worker).catch(() => 0);
    let movedMs = fromMs;
    let movedClockMs = clock.monotonic();
    for (;;) {
      await clock.sleep(lookEveryMs, over.signal);
      const nowMs = await busyMs(worker).catch(() => undefined);
      if (nowMs === undefined) {
        movedClockMs = clock.monotonic();
        continue;
      }
      if (moved) {
        moved = false;
        movedMs = nowMs;
        movedClockMs = clock.monotonic();
      }
      const workedMs = nowMs - movedMs;
      const clockMs = clock.monotonic() - movedClockMs;
      // Until it asks for rows, a thread may still be loading its program.
      const isLate =
        (workedMs > stallMs / 2 && clockMs > stallClockMs) ||
        (begun && workedMs > accountedMs + bytes * accountedMsPerByte && clockMs > lateClockMs);
      if (workedMs < stallMs && !isLate && nowMs - fromMs < freeMs + bytes * msPerByte) continue;
      end.abort(outOfProportion(nowMs - fromMs));
      return;
    }
  };
  look().catch(() => {
    // The run is over.
  });

  return {
    signal: end.signal,
    given(more) {
      bytes += more;
    },
    went() {
      begun = true;
      moved = true;
    },
    [Symbol.dispose]: () => over.abort(),
  };
}

/** Processor time of the thread. Before Node 24.6: the time it was not idle, which also grows when others need the processors. */
async function busyMs(worker: Pick<Worker, 'cpuUsage' | 'performance'>): Promise<number> {
  if (!('cpuUsage' in worker)) return (worker as Worker).performance.eventLoopUtilization().active;
  const { user, system } = await worker.cpuUsage();
  return (user + system) / 1_000;
}

function outOfProportion(workedMs: number): Error {
  const seconds = workedMs < 950 ? (workedMs / 1_000).toFixed(1) : Math.round(workedMs / 1_000);
  const fault = new QueryError(
    'MaxTimeMSExpired',
    `the query ran for ${seconds} s, which is out of proportion to the rows that it reads`,
    { hint: 'join on equal columns, filter first, and process shorter arrays and strings' },
  );
  return fault.toPlatformError();
}

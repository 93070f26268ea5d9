/**
 * Ends a run whose work is out of proportion to its rows: products of all with all, loops in loops over little. A run that goes on reading
 * and answering may take until its deadline.
 */
import type { Worker } from 'node:worker_threads';
import type { Clock } from '@platform/base';
import { QueryError } from '@platform/query';

export interface Watchdog extends Disposable {
  /** Aborted, with what the caller is told, when the run is to end. */
  readonly signal: AbortSignal;
  /** The run was given so many bytes of rows. */
  given(bytes: number): void;
  /** The run asked for rows, or answered some. */
  went(): void;
}

/** Processor time without a row read or answered: a sort of all that a query may hold takes half of it. */
const stallMs = 3_000;
/** The same by the clock, for one that worked half of that at least: where many want the processors, it still ends within five seconds. */
const stallClockMs = 3_250;
/**
 * Beside busy processes a thread of this priority gets a twentieth of a processor, and would work for half a minute until then. So one that
 * has begun to read ends by the clock once it worked for longer than its rows account for.
 */
const lateClockMs = 2_750;
/** What the first rows of a plan take, and for each byte twice what a sort takes. */
const accountedMs = 120;
const accountedMsPerByte = 50 / (1 << 20);
/** Processor time that a run has however little it reads, and for each byte that it reads: ten times what any usual expression takes. */
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
    // The thread did other runs before. One that is being started, which takes seconds on a busy computer, cannot be asked: it did nothing.
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
      // Until it asks for rows, a thread may be one that loads its program.
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

/** Processor time of the thread; before Node 24.6 the time that it did not wait, which grows when others need the processors, too. */
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

/**
 * Gives memory back to the system when a process becomes idle. After a busy period V8 keeps tens of megabytes in reserve, which other
 * processes on a small computer could use.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../async/clock.ts';
import { harmless } from '../harmless.ts';

/** How often the process is checked for idleness. */
const lookMs = 5_000;
/** The process is idle if it computed for at most this share of the time between two checks. */
const restShare = 0.1;
/** Growth since the last collection that justifies another one, which stops a process of 50 MB for some tens of milliseconds. */
const growthBytes = 16 << 20;

export interface TrimDeps {
  readonly clock: Clock;
  /** Release memory only once: a process that has just started holds much that only its start needed. Default false. */
  readonly once?: boolean;
  /** The least time between two collections, for a process that must not pause often. Default 0. */
  readonly leastMs?: number;
  /** Whether the process may pause now. Default: always. */
  readonly mayPause?: () => boolean;
  /** Milliseconds of CPU time that the process has used, in all threads. Default: as the system reports. */
  readonly workedMs?: () => number;
  /** Memory that the process holds. Default: as the system reports. */
  readonly residentBytes?: () => number;
  /** Default: the collection that V8 runs when memory is exhausted, which keeps nothing in reserve. */
  readonly collect?: () => void;
}

/** Runs until it is disposed; with `once`, until the first release. */
export function trimWhenIdle({
  clock,
  once = false,
  leastMs = 0,
  mayPause = () => true,
  workedMs = processorMs,
  residentBytes = () => process.memoryUsage.rss(),
  collect = collectAll,
}: TrimDeps): Disposable {
  let [lookedAt, leanBytes, collectedMs] = [workedMs(), 0, Number.NEGATIVE_INFINITY];
  const look = (): void => {
    const now = workedMs();
    const rests = now - lookedAt <= restShare * lookMs;
    lookedAt = now;
    if (!rests || !mayPause() || residentBytes() - leanBytes < growthBytes || clock.monotonic() - collectedMs < leastMs)
      return;
    collectedMs = clock.monotonic();
    collect();
    lookedAt = workedMs();
    leanBytes = residentBytes();
    if (once) looks[Symbol.dispose]();
  };
  const looks = clock.every(lookMs, harmless(look));
  return looks;
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function collectAll(): void {
  setFlagsFromString('--expose-gc');
  const gc: NodeJS.GCFunction = runInNewContext('gc');
  // V8 rejects compiled code from processes with other flags, so code loaded after this would be compiled again there too.
  setFlagsFromString('--no-expose-gc');
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/**
 * Gives memory back to the system when a process comes to rest: of what a busy time made V8 take, it keeps tens of megabytes for the
 * next one, which on a small computer others could use.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from './clock.ts';

/** How often it is looked whether the process rests. */
const lookMs = 5_000;
/** Share of a look's time in which something ran, up to which the process rests. */
const restShare = 0.1;
/** Growth since the last time that is worth a collection, which stops a process of 50 MB for some tens of milliseconds. */
const growthBytes = 16 << 20;

export interface TrimDeps {
  readonly clock: Clock;
  /** Only the first time: a process that is loaded holds much that only its start needed. Default false. */
  readonly once?: boolean;
  /** Milliseconds that the process has computed, all threads together. Default: what the system says. */
  readonly workedMs?: () => number;
  /** Memory that the process holds. Default: what the system says. */
  readonly residentBytes?: () => number;
  /** Default: V8's collection of a process that runs out of memory, which keeps nothing in reserve. */
  readonly collect?: () => void;
}

/** Until it is disposed, or until the first time when that is enough. */
export function trimAtRest({
  clock,
  once = false,
  workedMs = processorMs,
  residentBytes = () => process.memoryUsage.rss(),
  collect = collectAll,
}: TrimDeps): Disposable {
  let [lookedAt, leanBytes] = [workedMs(), 0];
  const looks = clock.every(lookMs, () => {
    const now = workedMs();
    const rests = now - lookedAt <= restShare * lookMs;
    lookedAt = now;
    if (!rests || residentBytes() - leanBytes < growthBytes) return;
    collect();
    lookedAt = workedMs();
    leanBytes = residentBytes();
    if (once) looks[Symbol.dispose]();
  });
  return looks;
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function collectAll(): void {
  setFlagsFromString('--expose-gc');
  const gc: NodeJS.GCFunction = runInNewContext('gc');
  // V8 takes no compiled code of processes with other flags: what is loaded after this would be compiled again, for those, too.
  setFlagsFromString('--no-expose-gc');
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

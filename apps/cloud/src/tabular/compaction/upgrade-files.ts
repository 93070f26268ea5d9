/**
 * Upgrades files sealed by an earlier version to the current format, in the background. The merge code rewrites each file, and the same
 * switch replaces it (I9). Queries that need such a file wait for it; all others are answered at once.
 *
 * States of a file: listed in its old format → replaced, at the same instant for every snapshot opened afterwards. After a crash it is
 * still listed, and the next start finds it again. A file that cannot be written is retried after all others, with increasing delays.
 */
import { type Clock, type Follower, follow, type Log, PlatformError } from '@platform/base';
import type { Catalog } from '../catalog/catalog.ts';
import { parquetFormat } from '../catalog/parquet-format.ts';
import type { FileRef } from '../process/messages.ts';
import type { Compaction } from './compaction.ts';

export interface FileUpgrade extends AsyncDisposable {
  start(): Promise<void>;
  /**
   * Resolves when none of these files remains.
   * @throws unavailable when a file cannot be written or the signal timed out; otherwise the signal's reason
   */
  replaced(files: readonly string[], signal: AbortSignal): Promise<void>;
}

export interface FileUpgradeDeps {
  readonly catalog: Pick<Catalog, 'olderFiles'>;
  readonly compaction: Pick<Compaction, 'upgrade'>;
  readonly clock: Clock;
  readonly log: Log;
}

const tellEveryMs = 30_000;
/** Wait when no older file remains. */
const idleMs = 3_600_000;
/** The process may have been killed, so a single failure does not prove that a file cannot be written. */
const enoughFailures = 3;

export function createFileUpgrade({ catalog, compaction, clock, log }: FileUpgradeDeps): FileUpgrade {
  let left: readonly FileRef[] = [];
  let total = 0;
  let toldMs = 0;
  let follower: Follower | undefined;
  const failures = new Map<string, number>();
  /** By file: how many queries wait for it. */
  const wanted = new Map<string, number>();
  let moved = Promise.withResolvers<void>();

  const tell = (): void => {
    moved.resolve();
    moved = Promise.withResolvers<void>();
  };
  const failuresOf = ({ file }: Pick<FileRef, 'file'>): number => failures.get(file) ?? 0;
  const isWanted = ({ file }: FileRef): number => (wanted.has(file) ? 1 : 0);

  const look = async (): Promise<void> => {
    left = await catalog.olderFiles(parquetFormat);
    tell();
  };

  const step = async (signal: AbortSignal): Promise<boolean> => {
    // The newest days come first, because most queries concern them.
    const [next] = left.toSorted((a, b) => failuresOf(a) - failuresOf(b) || isWanted(b) - isWanted(a));
    if (next === undefined) return false;
    const outcome = await compaction.upgrade(next, signal);
    if (outcome === 'failed') failures.set(next.file, failuresOf(next) + 1);
    await look();
    if (left.length === 0) log.info('all files that an earlier version sealed have been rewritten', { files: total });
    else if (clock.monotonic() - toldMs >= tellEveryMs) {
      toldMs = clock.monotonic();
      log.info('rewriting files that an earlier version sealed', { files: total, left: left.length });
    }
    if (outcome === 'failed') throw new Error(`${next.file} could not be rewritten`);
    return left.length > 0;
  };

  return {
    async start() {
      left = await catalog.olderFiles(parquetFormat);
      total = left.length;
      if (total === 0) return;
      toldMs = clock.monotonic();
      log.info('rewriting files that an earlier version sealed; queries that need one of them wait for it', {
        files: total,
      });
      follower = follow({ name: 'upgrade sealed files', step, clock, log, idleMs });
    },
    async replaced(files, signal) {
      for (const file of files) wanted.set(file, (wanted.get(file) ?? 0) + 1);
      const awaited = new Set(files);
      const over = Promise.withResolvers<void>();
      const abort = (): void => over.resolve();
      signal.addEventListener('abort', abort, { once: true });
      try {
        for (;;) {
          const waiting = left.filter(({ file }) => awaited.has(file));
          if (waiting.length === 0) return;
          const stuck = waiting.find((each) => failuresOf(each) >= enoughFailures);
          if (stuck !== undefined)
            throw new PlatformError(
              'unavailable',
              `readings of ${stuck.captureDay}: an earlier version sealed them in ${stuck.file}, which could not be rewritten so far (the log says why); trying again. Meanwhile, query other days`,
            );
          if (signal.aborted) throw tooEarly(signal.reason, waiting, left.length, total);
          await Promise.race([moved.promise, over.promise]);
        }
      } finally {
        signal.removeEventListener('abort', abort);
        for (const file of files) {
          const others = (wanted.get(file) ?? 0) - 1;
          if (others > 0) wanted.set(file, others);
          else wanted.delete(file);
        }
      }
    },
    async [Symbol.asyncDispose]() {
      await follower?.[Symbol.asyncDispose]();
    },
  };
}

function tooEarly(reason: unknown, waiting: readonly FileRef[], left: number, total: number): unknown {
  if (!(reason instanceof PlatformError) || reason.code !== 'deadline_exceeded') return reason;
  const days = waiting.map(({ captureDay }) => captureDay).toSorted();
  return new PlatformError(
    'unavailable',
    `the query needs readings of ${days[0]} to ${days.at(-1)} in ${waiting.length} files that an earlier version sealed, which are being rewritten (${total - left} of ${total} are done). Try again in a moment, or query other days`,
  );
}

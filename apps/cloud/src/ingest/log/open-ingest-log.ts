/** Opens the ingest log, in ingest.sqlite or in Postgres. It has one writer, this process. */
import { alreadyExists, type ClockAndLog, invalidArgument } from '@platform/base';
import type { WatchSetup } from '@platform/base/watchdog';
import { KnownLosses } from '../losses/known-losses.ts';
import type { AppendResult, IngestLog, LogEntry } from './log.ts';
import type { LogStore } from './log-writer.ts';
import { openSqliteLog } from './open-sqlite-log.ts';
import { RecentRows } from './recent-rows.ts';

export interface IngestLogOptions extends ClockAndLog {
  /** File of the SQLite log. */
  readonly file: string;
  /** `postgres://…`; `file` is then not used. Default: SQLite. */
  readonly database?: string | undefined;
  /** Only with SQLite: its thread also watches the main thread, because a thread for this alone would take 10 MB. */
  readonly watch?: WatchSetup | undefined;
  /** Called when the disk has failed: nothing more is acknowledged, and the process must exit (I2). */
  readonly onFatal: (error: Error) => void;
}

/** Throws failed_precondition when the store is not an ingest log, or has a newer version. */
export async function openIngestLog(options: IngestLogOptions): Promise<IngestLog> {
  const { database, log, clock } = options;
  const listeners = new Set<(position: number) => void>();
  const recent = new RecentRows(clock);
  // Senders are acknowledged first; followers then find the committed rows in memory.
  let isTelling = false;
  const onAppended = (): void => {
    if (isTelling) return;
    isTelling = true;
    setImmediate(() => {
      isTelling = false;
      for (const listener of listeners) listener(writer.lastPosition);
    });
  };
  const { writer, reads }: LogStore =
    database === undefined
      ? await openSqliteLog(options, onAppended)
      : await (await import('../postgres/open-postgres-log.ts')).openPostgresLog({ ...options, database }, onAppended);

  let retainedBytes = writer.openedBytes;
  const known = new KnownLosses(await reads.losses());
  const writeDown = (): Promise<void> => known.writeDown((loss) => writer.recordLoss(loss));

  return {
    ...reads,
    // A row that is committed but not yet announced is left to the next time, when it is in memory.
    follow: async (after, limit) =>
      after === writer.lastPosition ? [] : (recent.after(after, limit) ?? reads.follow(after, limit)),
    async recordLoss(lossIn, damage) {
      const loss = known.add(lossIn, damage, clock.now());
      if (loss !== undefined) {
        const { first, last, reason, parts } = loss;
        log.error(
          'acknowledged uploads can no longer be read; queries that could need them fail until the loss is accepted',
          { lossIn, first, last, reason, parts: parts ?? 'unknown' },
        );
      }
      await writeDown();
    },
    losses: () => known.list(),
    async acceptLosses() {
      const open = known.list().filter(({ acceptedMs }) => acceptedMs === null).length;
      const nowMs = clock.now();
      await writer.acceptLosses(nowMs);
      known.accept(nowMs);
      return open;
    },
    async restoreRow(row) {
      const { rows, bytes } = await writer.restoreRow(row);
      retainedBytes += bytes;
      return rows > 0;
    },
    async endLosses(position) {
      // Otherwise a loss still waiting to be written would be written after it ended.
      await writeDown();
      await writer.endLosses(position);
      known.end(position);
    },
    resumeAfter: async (position) => void (await writer.resumeAfter(position)),
    async append(entry): Promise<AppendResult> {
      requireValid(entry);
      // Copied, because a view would be sent with all the memory that it is part of. (slice() of a Buffer copies nothing.)
      const own = { stream: new Uint8Array(entry.stream), sha256: new Uint8Array(entry.sha256) };
      const result = await writer.append({ ...entry, ...own });
      const { outcome, position, fileId } = result;
      if (outcome === 'conflict') {
        throw alreadyExists(
          `part ${entry.partId} has sent another upload as number ${entry.seq} of the same stream; the first one stays, this one is set aside`,
        );
      }
      if (outcome === 'repeated') return { ...result };
      if (outcome === 'appended') {
        retainedBytes += entry.batch.length;
        recent.add({ position, partId: entry.partId, batch: entry.batch });
      }
      return { outcome, position, fileId };
    },
    lastPosition: () => writer.lastPosition,
    onCommit(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async truncate(upTo, maxRows) {
      const { rows, bytes } = await writer.truncate(upTo, maxRows);
      retainedBytes -= bytes;
      return rows;
    },
    markDamaged: async (position, reason) => void (await writer.markDamaged(position, reason)),
    forgetBlobs: async (paths) => void (await writer.forgetBlobs(paths)),
    retainedBytes: () => retainedBytes,
    [Symbol.asyncDispose]() {
      recent[Symbol.dispose]();
      return writer[Symbol.asyncDispose]();
    },
  };
}

function requireValid({ seq, lowWaterMark, stream }: LogEntry): void {
  if (!Number.isSafeInteger(seq) || !Number.isSafeInteger(lowWaterMark) || lowWaterMark < 0 || seq < lowWaterMark) {
    throw invalidArgument(`expected whole numbers 0 ≤ floor ≤ seq, found floor ${lowWaterMark}, seq ${seq}`);
  }
  if (stream.length === 0) throw invalidArgument('expected a stream of 16 bytes, found none');
}

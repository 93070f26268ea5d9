/** Opens ingest.sqlite: its thread appends, and the caller's thread reads. This process is the file's only writer. */
import { errorText, PlatformError, siblingEntry } from '@platform/base';
import { canBeRead } from '../../metadata/sqlite/can-be-read.ts';
import { openThread } from '../../metadata/sqlite/open-thread.ts';
import { faultError, isUnreadable, readFault } from '../../metadata/sqlite/sqlite-fault.ts';
import type { LogMaintenance, Maintained } from './log-maintenance.ts';
import type { LogOpened, LogRequest, LogResult, LogThreadSetup, MaintenanceCall } from './log-protocol.ts';
import { LogReader } from './log-reader.ts';
import type { LogStore } from './log-writer.ts';
import type { IngestLogOptions } from './open-ingest-log.ts';
import { SharedBuffer } from './shared-buffer.ts';

const expirePeriodMs = 60_000;

/** @param onAppended called after each commit that appended, before any sender is answered */
export async function openSqliteLog(options: IngestLogOptions, onAppended: () => void): Promise<LogStore> {
  const { file, watch, log, clock, onFatal } = options;
  const setup: LogThreadSetup = { file, watch };
  let lastPosition = 0;
  const thread = await openThread<LogRequest, LogResult, LogOpened>({
    entry: siblingEntry(import.meta.url, './log-thread'),
    setup,
    file,
    name: 'ingest log',
    what: () => 'the upload',
    log,
    onFatal,
    beforeAnswers(answers) {
      const before = lastPosition;
      for (const answer of answers) {
        if ('result' in answer && 'outcome' in answer.result && answer.result.outcome === 'appended')
          lastPosition = Math.max(lastPosition, answer.result.position);
      }
      if (lastPosition > before) onAppended();
    },
  });
  lastPosition = thread.opened.lastPosition;
  const reader = new LogReader(file);
  /** One unreadable row holds up only the followers that need it (I8); a data directory that is gone ends the process. */
  const reading = async <T>(read: () => T): Promise<T> => {
    try {
      return read();
    } catch (caught) {
      if (isUnreadable(caught) && !canBeRead(file))
        onFatal(faultError(readFault(caught), 'reading the ingest log', file));
      throw caught;
    }
  };
  const room = new SharedBuffer();

  /** Runs a method of LogMaintenance on the thread. */
  const maintain = async <Method extends keyof LogMaintenance>(
    method: Method,
    ...args: Parameters<LogMaintenance[Method]>
  ): Promise<Maintained> => {
    const result = await thread.ask({ kind: 'maintain', call: { method, args } as MaintenanceCall });
    if ('outcome' in result) throw new PlatformError('internal', `expected the number of rows of ${method}`);
    return result;
  };
  const expiry = clock.every(expirePeriodMs, () => {
    maintain('expire', clock.now()).catch((caught: unknown) => {
      if (!thread.ended)
        log.warn('ingest log: deleting the records of old anonymous uploads failed', { error: errorText(caught) });
    });
  });

  return {
    reads: {
      read: (after, limit) => reading(() => reader.read(after, limit)),
      follow: (after, limit) => reading(() => reader.follow(after, limit)),
      damaged: () => reading(() => reader.damaged()),
      losses: () => reading(() => reader.losses()),
      hasBlob: (path) => reading(() => reader.hasBlob(path)),
      isKnown: (key) => reading(() => reader.isKnown(key)),
      reusableBytes: () => reading(() => reader.reusableBytes()),
    },
    writer: {
      async append(entry) {
        const batch = room.copy(entry.batch);
        let result: LogResult;
        try {
          result = await thread.ask({ kind: 'append', entry: { ...entry, batch } });
        } finally {
          // A thread that failed may still be reading it.
          if (!thread.ended) room.giveBack(batch);
        }
        if ('rows' in result) throw new PlatformError('internal', 'expected the outcome of an append');
        return result;
      },
      truncate: (upTo, maxRows) => maintain('truncate', upTo, maxRows),
      markDamaged: (position, reason) => maintain('markDamaged', position, reason),
      recordLoss: (loss) => maintain('recordLoss', loss),
      acceptLosses: (nowMs) => maintain('acceptLosses', nowMs),
      restoreRow: (row) => maintain('restoreRow', row),
      endLosses: (position) => maintain('endLosses', position),
      async resumeAfter(position) {
        const raised = await maintain('resumeAfter', position);
        lastPosition = Math.max(lastPosition, position);
        return raised;
      },
      forgetBlobs: (paths) => maintain('forgetBlobs', paths),
      get lastPosition() {
        return lastPosition;
      },
      openedBytes: thread.opened.retainedBytes,
      async [Symbol.asyncDispose]() {
        expiry[Symbol.dispose]();
        await thread[Symbol.asyncDispose]();
        reader[Symbol.dispose]();
      },
    },
  };
}

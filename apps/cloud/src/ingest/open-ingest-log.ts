/** Opens ingest.sqlite: appends go to its thread, reads stay here. The file has one writer, this process. */
import { type Clock, errorText, type Log, PlatformError, siblingEntry } from '@platform/base';
import { openThread } from '../metadata/open-thread.ts';
import type { AppendResult, IngestLog, LogEntry } from './log.ts';
import type { LogOpened, LogRequest, LogResult, LogThreadSetup } from './log-protocol.ts';
import { LogReader } from './log-reader.ts';

export interface IngestLogOptions {
  readonly file: string;
  readonly log: Log;
  readonly clock: Clock;
  /** The disk failed: nothing more is acknowledged, the process must exit (I2). Default: throws where nobody catches. */
  readonly onFatal?: (error: Error) => void;
}

const expirePeriodMs = 60_000;

/** Throws failed_precondition when the file is no ingest log or a newer one. */
export async function openIngestLog(options: IngestLogOptions): Promise<IngestLog> {
  const { file, log, clock, onFatal } = options;
  const setup: LogThreadSetup = { file };
  const listeners = new Set<(position: number) => void>();
  let lastPosition = 0;
  const thread = await openThread<LogRequest, LogResult, LogOpened>({
    entry: siblingEntry(import.meta.url, './log-thread'),
    setup,
    file,
    name: 'ingest log',
    what: () => 'the upload',
    log,
    onFatal,
    // Who reads after an acknowledgement must find the position already moved.
    beforeAnswers(answers) {
      const before = lastPosition;
      for (const answer of answers) {
        if ('result' in answer && 'outcome' in answer.result && answer.result.outcome === 'appended')
          lastPosition = Math.max(lastPosition, answer.result.position);
      }
      if (lastPosition > before) for (const listener of listeners) listener(lastPosition);
    },
  });
  lastPosition = thread.opened.lastPosition;
  let { retainedBytes } = thread.opened;
  const reader = new LogReader(file);

  const expiry = clock.every(expirePeriodMs, () => {
    thread.ask({ kind: 'expire', nowMs: clock.now() }).catch((caught: unknown) => {
      if (!thread.ended) log.warn('ingest log: forgetting old anonymous uploads failed', { error: errorText(caught) });
    });
  });

  return {
    async append(entry): Promise<AppendResult> {
      requireValid(entry);
      // One copy, then the bytes move between the threads. The caller's may be views of a large or pooled buffer, which
      // cloning would copy whole and moving would take away (and slice() of a Buffer copies nothing).
      const batch = new Uint8Array(entry.batch);
      const batchBytes = batch.length;
      const own = { batch, stream: new Uint8Array(entry.stream), sha256: new Uint8Array(entry.sha256) };
      const result = await thread.ask({ kind: 'append', entry: { ...entry, ...own } }, [batch.buffer]);
      if ('rows' in result) throw new PlatformError('internal', 'expected the outcome of an append');
      const { outcome } = result;
      if (outcome === 'conflict') {
        throw new PlatformError(
          'already_exists',
          `part ${entry.partId} has sent another upload as number ${entry.seq} of the same stream; the first one stays, this one is kept aside`,
        );
      }
      if (outcome === 'appended') retainedBytes += batchBytes;
      return { outcome, position: result.position, fileId: result.fileId };
    },
    read: (after, limit) => reader.read(after, limit),
    lastPosition: () => lastPosition,
    onCommit(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async truncate(upTo, maxRows) {
      const result = await thread.ask({ kind: 'truncate', upTo, maxRows });
      if (!('rows' in result)) throw new PlatformError('internal', 'expected the number of rows of a truncation');
      retainedBytes -= result.bytes;
      return result.rows;
    },
    async markDamaged(position, reason) {
      await thread.ask({ kind: 'damaged', position, reason });
    },
    damaged: () => reader.damaged(),
    retainedBytes: () => retainedBytes,
    hasBlob: (path) => reader.hasBlob(path),
    async [Symbol.asyncDispose]() {
      expiry[Symbol.dispose]();
      await thread[Symbol.asyncDispose]();
      reader[Symbol.dispose]();
    },
  };
}

function requireValid({ seq, floor, stream }: LogEntry): void {
  if (!Number.isSafeInteger(seq) || !Number.isSafeInteger(floor) || floor < 0 || seq < floor) {
    throw new PlatformError(
      'invalid_argument',
      `expected whole numbers 0 ≤ floor ≤ seq, found floor ${floor}, seq ${seq}`,
    );
  }
  if (stream.length === 0) throw new PlatformError('invalid_argument', 'expected a stream of 16 bytes, found none');
}

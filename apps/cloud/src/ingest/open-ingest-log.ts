/** Opens ingest.sqlite: appends go to its thread, reads stay here. The file has one writer, this process. */
import { Worker } from 'node:worker_threads';
import { type Clock, errorText, type Log, PlatformError, siblingEntry } from '@platform/base';
import { faultError } from '../metadata/sqlite-fault.ts';
import type { SqliteFault } from '../metadata/writer-protocol.ts';
import type { AppendResult, IngestLog, LogEntry } from './log.ts';
import type { LogAnswer, LogMessage, LogOpened, LogRequest, LogThreadSetup } from './log-protocol.ts';
import { LogReader } from './log-reader.ts';

export interface IngestLogOptions {
  readonly file: string;
  readonly log: Log;
  readonly clock: Clock;
  /** The disk failed: nothing more is acknowledged, the process must exit (I2). Default: throws where nobody catches. */
  readonly onFatal?: (error: Error) => void;
}

const expirePeriodMs = 60_000;

type Result = Extract<LogAnswer, { result: unknown }>['result'];
type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

interface Waiting {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
  readonly batchBytes: number;
}

/** Throws failed_precondition when the file is no ingest log or a newer one. */
export async function openIngestLog(options: IngestLogOptions): Promise<IngestLog> {
  const { file, log, clock, onFatal = exitUncaught } = options;
  const setup: LogThreadSetup = { file };
  const worker = new Worker(siblingEntry(import.meta.url, './log-thread'), { workerData: setup });
  const waiting = new Map<number, Waiting>();
  const listeners = new Set<(position: number) => void>();
  let lastId = 0;
  let lastPosition = 0;
  let retainedBytes = 0;
  let ended: PlatformError | null = null;
  let closing = false;
  const closedError = (): PlatformError => new PlatformError('unavailable', `${file} is closed`);

  const end = (error: PlatformError): void => {
    if (ended) return;
    ended = error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const die = (message: string): void => {
    if (ended) return;
    const error = faultError({ kind: 'fatal', message }, 'the upload', file);
    log.error('ingest log: the disk failed', { file, error: message });
    end(error);
    onFatal(error);
  };

  const settle = (answers: readonly LogAnswer[]): void => {
    const before = lastPosition;
    for (const answer of answers) {
      if (!('result' in answer)) continue;
      const { result } = answer;
      if ('rows' in result) retainedBytes -= result.bytes;
      else if (result.outcome === 'appended') {
        lastPosition = Math.max(lastPosition, result.position);
        retainedBytes += waiting.get(answer.id)?.batchBytes ?? 0;
      }
    }
    // Who reads after an acknowledgement must find the position already moved.
    for (const answer of answers) {
      const waiter = waiting.get(answer.id);
      waiting.delete(answer.id);
      if ('result' in answer) waiter?.resolve(answer.result);
      else waiter?.reject(faultError(answer.fault satisfies SqliteFault, 'the upload', file));
    }
    if (lastPosition > before) for (const listener of listeners) listener(lastPosition);
  };

  const opened = await new Promise<LogOpened>((resolve, reject) => {
    worker.on('message', (message: LogMessage) => {
      if (message.type === 'answers') settle(message.answers);
      else if (message.type === 'ready') resolve(message);
      else if (message.type === 'fatal') die(message.message);
      else {
        const error = new PlatformError('failed_precondition', `${file} cannot be opened: ${message.message}`);
        end(error);
        reject(error);
      }
    });
    worker.once('error', (error) => {
      reject(error);
      die(error.message);
    });
    worker.once('exit', () => {
      if (closing) end(closedError());
      else die('the thread of the ingest log ended');
    });
  });
  lastPosition = opened.lastPosition;
  retainedBytes = opened.retainedBytes;
  const reader = new LogReader(file);

  const ask = (request: WithoutId<LogRequest>, move: readonly ArrayBuffer[] = [], batchBytes = 0): Promise<Result> =>
    new Promise((resolve, reject) => {
      if (ended) return reject(ended);
      const id = ++lastId;
      waiting.set(id, { resolve, reject, batchBytes });
      worker.postMessage({ ...request, id }, move as ArrayBuffer[]);
    });

  const expiry = clock.every(expirePeriodMs, () => {
    ask({ kind: 'expire', nowMs: clock.now() }).catch((caught: unknown) => {
      if (!ended) log.warn('ingest log: forgetting old anonymous uploads failed', { error: errorText(caught) });
    });
  });

  return {
    async append(entry): Promise<AppendResult> {
      requireValid(entry);
      // One copy, then the bytes move between the threads. The caller's may be views of a large or pooled buffer, which
      // cloning would copy whole and moving would take away (and slice() of a Buffer copies nothing).
      const batch = new Uint8Array(entry.batch);
      const own = { batch, stream: new Uint8Array(entry.stream), sha256: new Uint8Array(entry.sha256) };
      const result = await ask({ kind: 'append', entry: { ...entry, ...own } }, [batch.buffer], batch.length);
      if ('rows' in result) throw new PlatformError('internal', 'expected the outcome of an append');
      const { outcome } = result;
      if (outcome === 'conflict') {
        throw new PlatformError(
          'already_exists',
          `part ${entry.partId} has sent another upload as number ${entry.seq} of the same stream; the first one stays, this one is kept aside`,
        );
      }
      return { outcome, position: result.position, fileId: result.fileId };
    },
    read: (after, limit) => reader.read(after, limit),
    lastPosition: () => lastPosition,
    onCommit(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    async truncate(upTo, maxRows) {
      const result = await ask({ kind: 'truncate', upTo, maxRows });
      return 'rows' in result ? result.rows : 0;
    },
    async markDamaged(position, reason) {
      await ask({ kind: 'damaged', position, reason });
    },
    damaged: () => reader.damaged(),
    retainedBytes: () => retainedBytes,
    hasBlob: (path) => reader.hasBlob(path),
    async [Symbol.asyncDispose]() {
      expiry[Symbol.dispose]();
      if (!ended && !closing) {
        closing = true;
        // Everything asked before is done and answered first; the thread's end may overtake its last answer.
        await ask({ kind: 'close' }).catch(() => {});
        end(closedError());
      }
      reader[Symbol.dispose]();
      await worker.terminate();
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

function exitUncaught(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}

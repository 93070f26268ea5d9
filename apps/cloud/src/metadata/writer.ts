/** The caller's side of a writer thread: a promise for each statement and transaction. */
import { Worker } from 'node:worker_threads';
import { type Log, PlatformError, siblingEntry } from '@platform/base';
import { faultError } from './sqlite-fault.ts';
import type {
  Migration,
  SqlValue,
  StatementResult,
  WriterAnswer,
  WriterMessage,
  WriterRequest,
  WriterSetup,
} from './writer-protocol.ts';

export interface Writer extends AsyncDisposable {
  /** A transaction of one statement; resolves after its commit is on the disk. */
  run(sql: string, params: readonly SqlValue[]): Promise<StatementResult>;
  /** Resolves when no other transaction is open; its number is for step, commit and rollback. */
  begin(): Promise<number>;
  step(tx: number, sql: string, params: readonly SqlValue[]): Promise<StatementResult>;
  /** Resolves after the commit is on the disk. */
  commit(tx: number): Promise<void>;
  rollback(tx: number): Promise<void>;
}

export interface WriterOptions {
  readonly file: string;
  readonly migrations: readonly Migration[];
  readonly log: Log;
  readonly onFatal?: (error: Error) => void;
}

interface Waiting {
  readonly what: string;
  readonly resolve: (result: StatementResult) => void;
  readonly reject: (error: Error) => void;
}

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

/** Resolves when the file is open and migrated. */
export async function openWriter(options: WriterOptions): Promise<Writer> {
  const { file, migrations, log } = options;
  const onFatal = options.onFatal ?? exitUncaught;
  const setup: WriterSetup = { file, migrations };
  const worker = new Worker(siblingEntry(import.meta.url, './writer-thread'), { workerData: setup });
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let lastTx = 0;
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
    const error = faultError({ kind: 'fatal', message }, 'the transaction', file);
    log.error('metadata: the disk failed', { file, error: message });
    end(error);
    onFatal(error);
  };
  const settle = (answer: WriterAnswer): void => {
    const waiter = waiting.get(answer.id);
    if (!waiter) return;
    waiting.delete(answer.id);
    if (answer.ok) waiter.resolve(answer);
    else waiter.reject(faultError(answer.fault, waiter.what, file));
  };

  await new Promise<void>((resolve, reject) => {
    worker.on('message', (message: WriterMessage) => {
      if (message.type === 'answers') for (const answer of message.answers) settle(answer);
      else if (message.type === 'ready') resolve();
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
      // The thread's end may overtake its last answer.
      if (closing) end(closedError());
      else die('the writer thread ended');
    });
  });

  const ask = (request: WithoutId<WriterRequest>, what: string): Promise<StatementResult> =>
    new Promise((resolve, reject) => {
      if (ended) return reject(ended);
      const id = ++lastId;
      waiting.set(id, { what, resolve, reject });
      worker.postMessage({ ...request, id });
    });

  return {
    run: (sql, params) => ask({ kind: 'run', sql, params }, sql),
    async begin() {
      const tx = ++lastTx;
      await ask({ kind: 'begin', tx }, 'the transaction');
      return tx;
    },
    step: (tx, sql, params) => ask({ kind: 'step', tx, sql, params }, sql),
    commit: async (tx) => void (await ask({ kind: 'commit', tx }, 'the transaction')),
    rollback: async (tx) => void (await ask({ kind: 'rollback', tx }, 'the transaction')),
    async [Symbol.asyncDispose]() {
      if (!ended && !closing) {
        closing = true;
        await ask({ kind: 'close' }, 'closing').catch(() => {});
        end(closedError());
      }
      await worker.terminate();
    },
  };
}

function exitUncaught(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}

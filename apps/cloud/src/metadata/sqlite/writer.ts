/** The caller's side of a writer thread: a promise for each statement and transaction. */
import { type Log, siblingEntry } from '@platform/base';
import { openThread } from './open-thread.ts';
import type { Migration, SqlValue, StatementResult, WriterRequest, WriterSetup } from './writer-protocol.ts';

export interface Writer extends AsyncDisposable {
  /** A transaction of one statement; resolves after its commit is on the disk. */
  run(sql: string, params: readonly SqlValue[]): Promise<StatementResult>;
  /** Resolves when no other transaction is open; step, commit and rollback take its number. */
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
  readonly onFatal: (error: Error) => void;
}

/** Resolves when the file is open and migrated. */
export async function openWriter({ file, migrations, log, onFatal }: WriterOptions): Promise<Writer> {
  const setup: WriterSetup = { file, migrations };
  const thread = await openThread<WriterRequest, StatementResult, null>({
    entry: siblingEntry(import.meta.url, './writer-thread'),
    setup,
    file,
    name: 'metadata',
    what: (request) => ('sql' in request ? request.sql : 'the transaction'),
    log,
    onFatal,
  });
  let lastTx = 0;
  return {
    run: (sql, params) => thread.ask({ kind: 'run', sql, params }),
    async begin() {
      const tx = ++lastTx;
      await thread.ask({ kind: 'begin', tx });
      return tx;
    },
    step: (tx, sql, params) => thread.ask({ kind: 'step', tx, sql, params }),
    commit: async (tx) => void (await thread.ask({ kind: 'commit', tx })),
    rollback: async (tx) => void (await thread.ask({ kind: 'rollback', tx })),
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}

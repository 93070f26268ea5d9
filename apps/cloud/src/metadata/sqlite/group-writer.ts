/**
 * Group commit on one connection: the logic of the writer thread, without the thread.
 *
 * States: idle → group open (a SQLite transaction) → idle. Within a group, one caller's transaction at a time is a savepoint: none → open →
 * released (its answer waits for the group) | rolled back (answered at once). A group ends when no request is waiting, or when it is full
 * or old, so that a busy queue cannot delay the answers to earlier requests. Nothing is acknowledged before COMMIT has returned (I2).
 */
import type { DatabaseSync } from 'node:sqlite';
import { sqliteFault } from './sqlite-fault.ts';
import { Statements } from './statements.ts';
import type { SqliteFault } from './thread-protocol.ts';
import type { StatementResult, WriterAnswer, WriterRequest } from './writer-protocol.ts';

type Work = Extract<WriterRequest, { kind: 'run' | 'begin' }>;

const nothing: StatementResult = { rows: [], changes: 0, insertId: 0 };
const groupTransactions = 256;
const groupMs = 5;

export interface GroupWriterOptions {
  readonly db: DatabaseSync;
  readonly answer: (answers: readonly WriterAnswer[]) => void;
  /** After this, nothing is answered any more. */
  readonly fatal: (message: string) => void;
  /** Called after each commit; throws what is fatal. */
  readonly checkpoint: () => void;
  readonly monotonic: () => number;
}

export class GroupWriter {
  readonly #options: GroupWriterOptions;
  readonly #statements: Statements;
  readonly #waiting: Work[] = [];
  /** Finished requests, answered once the group has committed. */
  #done: WriterAnswer[] = [];
  #openTx: number | null = null;
  /** Transactions that SQLite or the timeout rolled back; their owners learn it at their next message. */
  readonly #lost = new Map<number, SqliteFault>();
  #groupStartedMs = 0;
  #grouped = 0;
  #failed = false;

  constructor(options: GroupWriterOptions) {
    this.#options = options;
    this.#statements = new Statements(options.db);
  }

  get openTransaction(): number | null {
    return this.#openTx;
  }

  accept(request: Exclude<WriterRequest, { kind: 'close' }>): void {
    if (this.#failed) return;
    if (request.kind === 'run' || request.kind === 'begin') this.#waiting.push(request);
    else this.#continue(request);
  }

  /** Works until the queue is empty or a caller's transaction is open. */
  pump(): void {
    while (!this.#failed && this.#openTx === null) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#start(next);
      const full = this.#grouped >= groupTransactions || this.#options.monotonic() - this.#groupStartedMs > groupMs;
      if (full && this.#openTx === null) this.#commitGroup();
    }
    if (this.#openTx === null) this.#commitGroup();
  }

  /** Rolls back the open transaction because its owner went silent; the owner learns it at its next message. */
  abandon(reason: string): void {
    if (this.#openTx === null) return;
    this.#lost.set(this.#openTx, { kind: 'statement', message: reason });
    this.#guard(null, () => this.#options.db.exec('rollback to one; release one'));
    this.#openTx = null;
  }

  #start(work: Work): void {
    const { db, answer } = this.#options;
    if (!db.isTransaction && !this.#guard(work.id, () => db.exec('begin immediate'))) return;
    if (this.#grouped === 0) this.#groupStartedMs = this.#options.monotonic();
    this.#grouped++;
    if (work.kind === 'run') {
      this.#guard(work.id, () => {
        this.#done.push({ id: work.id, result: this.#statements.execute(work.sql, work.params) });
      });
      return;
    }
    if (!this.#guard(work.id, () => db.exec('savepoint one'))) return;
    this.#openTx = work.tx;
    answer([{ id: work.id, result: nothing }]);
  }

  #continue(request: Extract<WriterRequest, { kind: 'step' | 'commit' | 'rollback' }>): void {
    const { db, answer } = this.#options;
    const { id, tx } = request;
    if (this.#openTx !== tx) {
      const fault = this.#lost.get(tx) ?? { kind: 'statement', message: 'the transaction has ended already' };
      if (request.kind !== 'step') this.#lost.delete(tx);
      answer([request.kind === 'rollback' ? { id, result: nothing } : { id, fault }]);
      return;
    }
    if (request.kind === 'step') {
      this.#guard(id, () => answer([{ id, result: this.#statements.execute(request.sql, request.params) }]));
      return;
    }
    this.#openTx = null;
    if (request.kind === 'commit') {
      if (this.#guard(id, () => db.exec('release one'))) this.#done.push({ id, result: nothing });
    } else if (this.#guard(id, () => db.exec('rollback to one; release one'))) {
      answer([{ id, result: nothing }]);
    }
  }

  #commitGroup(): void {
    const { db, answer } = this.#options;
    if (this.#failed || !db.isTransaction) return;
    try {
      db.exec('commit');
    } catch (caught) {
      this.#rolledBack(sqliteFault(caught));
      return;
    }
    const done = this.#done;
    this.#done = [];
    this.#grouped = 0;
    if (done.length > 0) answer(done);
    this.#guard(null, this.#options.checkpoint);
  }

  /** Runs one step. If it fails, sends the fault to `id` and returns false. */
  #guard(id: number | null, run: () => void): boolean {
    try {
      run();
      return true;
    } catch (caught) {
      const fault = sqliteFault(caught);
      if (fault.kind === 'fatal') {
        this.#fail(fault.message);
        return false;
      }
      if (id !== null) this.#options.answer([{ id, fault }]);
      // On a full disk SQLite may have rolled back everything, not just this statement.
      if (this.#grouped > 0 && !this.#options.db.isTransaction) this.#rolledBack(fault);
      return false;
    }
  }

  #rolledBack(fault: SqliteFault): void {
    const { db, answer } = this.#options;
    if (fault.kind === 'fatal') {
      this.#fail(fault.message);
      return;
    }
    if (db.isTransaction) db.exec('rollback');
    if (this.#openTx !== null) this.#lost.set(this.#openTx, fault);
    this.#openTx = null;
    const done = this.#done;
    this.#done = [];
    this.#grouped = 0;
    if (done.length > 0) answer(done.map(({ id }) => ({ id, fault })));
  }

  #fail(message: string): void {
    this.#failed = true;
    this.#options.fatal(message);
  }
}

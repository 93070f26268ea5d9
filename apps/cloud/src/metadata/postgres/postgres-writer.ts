/**
 * The single connection that writes to a schema: transactions run one after another, as in SQLite.
 *
 * Each transaction first takes an advisory lock that Postgres releases only after the commit. This also works across processes, and what a
 * transaction has read stays valid until it has committed.
 *
 * States of the connection: none → connecting → up → none. States of a transaction: waiting → open → committed | rolled back | in doubt. It
 * is in doubt if the connection was lost during COMMIT: the next connection checks its outcome, and no one is answered before that (I2). If
 * the outcome stays unknown for too long, the process must end, because its memory may not match the disk.
 *
 * To be recognizable, each transaction leaves a unique token in the table `last_commit`. The server's transaction ids are unsuitable: after
 * a crash it reuses the id of a lost transaction for another one, and then reports it as `committed`.
 */
import { randomUUID } from 'node:crypto';
import { type Clock, type ClockAndLog, errorText, PlatformError, unavailable } from '@platform/base';
import type { Client, QueryResult } from 'pg';
import { writerSetting } from '../row-checks/postgres-triggers.ts';
import type { PostgresAddress } from './postgres-address.ts';
import { connectPostgres } from './postgres-connection.ts';
import { isConnectionLost, isFailedBefore, postgresError } from './postgres-fault.ts';
import { postgresValue } from './postgres-values.ts';

export interface PostgresWriterOptions extends ClockAndLog {
  readonly address: PostgresAddress;
  readonly schema: string;
  /** Key of the advisory lock: one for each schema. */
  readonly lockKey: number;
  /** It is unknown what was committed: nothing more may be acknowledged, and the process must exit (I2). */
  readonly onFatal: (error: Error) => void;
}

/** Class of all advisory locks of the cloud; spells "plat". */
export const lockClass = 0x706c6174;

/** One row: the token of the last committed transaction. Not part of a backup. */
export const commitTable = 'last_commit';

/** A transaction whose owner is silent for longer than this is rolled back, because it blocks every other writer. */
const silenceMs = 15_000;
const doubtMs = 30_000;
const retryMs = 100;

export class PostgresWriter implements AsyncDisposable {
  /** Name of the database, for error texts. */
  readonly shown: string;
  readonly #options: PostgresWriterOptions;
  #client: Client | null = null;
  #hasTable = false;
  #turn: Promise<void> = Promise.resolve();
  #open: PostgresTransaction | null = null;
  #ended: PlatformError | null = null;

  constructor(options: PostgresWriterOptions) {
    this.#options = options;
    this.shown = options.address.shown;
  }

  /** Resolves when no other transaction is open, in this or another process. */
  async begin(): Promise<PostgresTransaction> {
    const release = await this.#takeTurn();
    try {
      const client = await this.#connected();
      await this.#makeTable(client);
      await client.query(`begin; select pg_advisory_xact_lock(${lockClass}, ${this.#options.lockKey})`);
      const open = new PostgresTransaction({ client, writer: this, clock: this.#options.clock, release });
      this.#open = open;
      return open;
    } catch (caught) {
      release();
      throw postgresError(caught, 'the transaction', this.shown);
    }
  }

  /** A transaction of one statement; resolves after its commit. */
  // Not in one round trip: a connection lost during COMMIT could also lose the statement's result.
  run(sql: string, params: readonly unknown[]): Promise<QueryResult> {
    return this.inTransaction((transaction) => transaction.query(sql, params));
  }

  /** Commits what `work` has done; rolls it back if it rejects. */
  async inTransaction<T>(work: (transaction: PostgresTransaction) => Promise<T>): Promise<T> {
    const transaction = await this.begin();
    try {
      const result = await work(transaction);
      await transaction.commit();
      return result;
    } catch (caught) {
      await transaction.rollback();
      throw caught;
    }
  }

  /** Resolves when the commit is certain; checks the database if the answer was lost. */
  async commit(client: Client): Promise<void> {
    const token = randomUUID();
    // Sent in one round trip. A COMMIT after a failed statement rolls back, and reports that.
    const [marked, committed] = await Promise.allSettled([
      client.query(`update ${commitTable} set token = $1`, [token]),
      client.query('commit'),
    ]);
    if (committed.status === 'fulfilled') {
      if (committed.value.command === 'COMMIT') return;
      if (marked.status === 'rejected' && !isFailedBefore(marked.reason)) throw marked.reason;
      throw new PlatformError('internal', 'the transaction had failed before and was rolled back');
    }
    if (!isConnectionLost(committed.reason)) throw committed.reason;
    if (await this.#wasCommitted(token)) return;
    throw committed.reason;
  }

  ended(transaction: PostgresTransaction): void {
    if (this.#open === transaction) this.#open = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended ??= unavailable(`${this.shown} is being closed`);
    await this.#open?.abandon('the database is being closed');
    await this.#turn;
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }

  async #takeTurn(): Promise<() => void> {
    if (this.#ended) throw this.#ended;
    let release = (): void => {};
    const before = this.#turn;
    this.#turn = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    if (this.#ended) {
      release();
      throw this.#ended;
    }
    return release;
  }

  async #connected(): Promise<Client> {
    if (this.#client) return this.#client;
    const { address, schema } = this.#options;
    let isLost = false;
    const client = await connectPostgres(address, schema, (gone) => {
      isLost = true;
      if (this.#client === gone) this.#client = null;
    });
    await client.query(writerSetting);
    if (isLost) throw unavailable(`the connection to the ${this.shown} was lost immediately`);
    this.#client = client;
    return client;
  }

  /** Called before the migrations, because their commit may be in doubt, too. */
  async #makeTable(client: Client): Promise<void> {
    if (this.#hasTable) return;
    const { lockKey, schema } = this.#options;
    await client.query(`
      begin;
      select pg_advisory_xact_lock(${lockClass}, ${lockKey});
      create schema if not exists ${schema};
      create table if not exists ${commitTable} (only_row boolean primary key default true check (only_row), token uuid);
      insert into ${commitTable} default values on conflict do nothing;
      commit`);
    this.#hasTable = true;
  }

  async #wasCommitted(token: string): Promise<boolean> {
    const { clock, log, onFatal } = this.#options;
    const until = clock.monotonic() + doubtMs;
    log.warn('the connection was lost during a commit; checking its outcome', { token });
    for (;;) {
      try {
        const last = await this.#lastToken(await this.#connected());
        if (last !== undefined) return last === token;
      } catch (caught) {
        log.warn('the outcome of a commit cannot be determined yet', { token, error: errorText(caught) });
      }
      if (clock.monotonic() >= until) {
        const error = unavailable(
          `${this.shown} could not be asked for ${doubtMs / 1_000} s whether a transaction was committed: the process must restart`,
        );
        this.#ended = error;
        onFatal(error);
        throw error;
      }
      await clock.sleep(retryMs);
    }
  }

  /** Undefined while the transaction of the lost connection is still open and may yet commit. No one else writes in the meantime. */
  async #lastToken(client: Client): Promise<string | undefined> {
    const { lockKey } = this.#options;
    const results = await client.query(`
      begin;
      select pg_try_advisory_xact_lock(${lockClass}, ${lockKey}) as is_alone;
      select token from ${commitTable};
      commit`);
    const rows = [results].flat().flatMap((result) => result.rows);
    return rows[0]?.is_alone === 1 ? String(rows[1]?.token) : undefined;
  }
}

interface OpenOptions {
  readonly client: Client;
  readonly writer: PostgresWriter;
  readonly clock: Clock;
  readonly release: () => void;
}

export class PostgresTransaction {
  readonly #options: OpenOptions;
  #silence: Disposable | undefined;
  /** Statements that were sent and not yet answered. */
  #asked = 0;
  /** The reason why the transaction has ended. */
  #over: PlatformError | null = null;

  constructor(options: OpenOptions) {
    this.#options = options;
    this.#listen();
  }

  async query(sql: string, params: readonly unknown[] = []): Promise<QueryResult> {
    if (this.#over) throw this.#over;
    this.#silence?.[Symbol.dispose]();
    const { client, writer } = this.#options;
    this.#asked++;
    try {
      return await client.query(sql, params.map(postgresValue));
    } catch (caught) {
      throw postgresError(caught, sql, writer.shown);
    } finally {
      this.#asked--;
      if (!this.#over && this.#asked === 0) this.#listen();
    }
  }

  async commit(): Promise<void> {
    if (this.#over) throw this.#over;
    const { client, writer } = this.#options;
    this.#end('the transaction has ended already');
    try {
      await writer.commit(client);
    } catch (caught) {
      throw postgresError(caught, 'the transaction', writer.shown);
    } finally {
      this.#options.release();
    }
  }

  async rollback(): Promise<void> {
    if (!this.#over) await this.abandon('the transaction has ended already');
  }

  async abandon(reason: string): Promise<void> {
    if (this.#over) return;
    this.#end(reason);
    // If the connection was lost, the server has already rolled back.
    await this.#options.client.query('rollback').catch(() => {});
    this.#options.release();
  }

  #end(reason: string): void {
    this.#silence?.[Symbol.dispose]();
    this.#over = new PlatformError('internal', reason);
    this.#options.writer.ended(this);
  }

  #listen(): void {
    this.#silence?.[Symbol.dispose]();
    const reason = `the transaction waited ${silenceMs / 1_000} s for its owner and was rolled back`;
    this.#silence = this.#options.clock.after(silenceMs, () => void this.abandon(reason));
  }
}

/**
 * The one connection that writes a schema: transactions run one after the other, as SQLite's do.
 *
 * Each begins by taking an advisory lock that Postgres frees only after its commit, so that it holds between processes too,
 * and what a transaction has read stays true until it has committed. States of the connection: none → connecting → up → none;
 * of a transaction: waiting → open → committed | rolled back | in doubt. In doubt is one whose connection was lost under its
 * COMMIT: the next connection asks the server what became of it, and until it is known nobody is answered (I2). When nobody
 * can say it within a time, the process has to end: its memory may not agree with the disk.
 */
import { type Clock, errorText, type Log, PlatformError } from '@platform/base';
import type { Client, QueryResult } from 'pg';
import type { PostgresAddress } from './postgres-address.ts';
import { connectPostgres } from './postgres-connection.ts';
import { isConnectionLost, postgresError } from './postgres-fault.ts';
import { postgresValue } from './postgres-values.ts';

export interface PostgresWriterOptions {
  readonly address: PostgresAddress;
  readonly schema: string;
  /** Of the advisory lock: one for each schema. */
  readonly lockKey: number;
  readonly clock: Clock;
  readonly log: Log;
  /** It cannot be known what was committed: nothing more is acknowledged, the process must exit (I2). */
  readonly onFatal: (error: Error) => void;
}

export interface PostgresTransaction {
  query(sql: string, params?: readonly unknown[]): Promise<QueryResult>;
  /** Resolves when it is known to be committed. Throws unavailable when it is known not to be. */
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

export interface PostgresWriter extends AsyncDisposable {
  /** Where, for messages. */
  readonly shown: string;
  /** Resolves when no other transaction is open, here or in another process. */
  begin(): Promise<PostgresTransaction>;
  /** A transaction of one statement; resolves after its commit. */
  run(sql: string, params: readonly unknown[]): Promise<QueryResult>;
}

/** Of every advisory lock of the cloud; spells "plat". */
export const lockClass = 0x706c6174;

/** A transaction that waits longer than this for its owner is rolled back: it holds up every other writer. */
const silenceMs = 15_000;
const doubtMs = 30_000;
const retryMs = 100;

export function createPostgresWriter(options: PostgresWriterOptions): PostgresWriter {
  return new SerialWriter(options);
}

class SerialWriter implements PostgresWriter {
  readonly shown: string;
  readonly #options: PostgresWriterOptions;
  #client: Client | null = null;
  #turn: Promise<void> = Promise.resolve();
  #open: OpenTransaction | null = null;
  #ended: PlatformError | null = null;

  constructor(options: PostgresWriterOptions) {
    this.#options = options;
    this.shown = options.address.shown;
  }

  async begin(): Promise<PostgresTransaction> {
    const release = await this.#takeTurn();
    try {
      const client = await this.#connected();
      const id = await this.#start(client);
      const open = new OpenTransaction({ client, id, writer: this, clock: this.#options.clock, release });
      this.#open = open;
      return open;
    } catch (caught) {
      release();
      throw postgresError(caught, 'the transaction', this.shown);
    }
  }

  // Step by step: were the COMMIT sent along, a lost connection could take the statement's result with it.
  async run(sql: string, params: readonly unknown[]): Promise<QueryResult> {
    const transaction = await this.begin();
    try {
      const result = await transaction.query(sql, params);
      await transaction.commit();
      return result;
    } catch (caught) {
      await transaction.rollback();
      throw caught;
    }
  }

  /** What a COMMIT came to; asks the server when its answer was lost. */
  async settle(id: string, committed: PromiseSettledResult<QueryResult>): Promise<void> {
    if (committed.status === 'fulfilled') {
      if (committed.value.command === 'COMMIT') return;
      throw new PlatformError('internal', 'the transaction had failed before and was rolled back');
    }
    if (!isConnectionLost(committed.reason)) throw committed.reason;
    if (await this.#wasCommitted(id)) return;
    throw committed.reason;
  }

  ended(transaction: OpenTransaction): void {
    if (this.#open === transaction) this.#open = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended ??= new PlatformError('unavailable', `${this.shown} is being closed`);
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
    if (isLost) throw new PlatformError('unavailable', `the connection to the ${this.shown} was lost at once`);
    this.#client = client;
    return client;
  }

  /** Answers the transaction's number, by which its fate can be asked for later. */
  async #start(client: Client): Promise<string> {
    const { lockKey } = this.#options;
    const text = `begin; select pg_advisory_xact_lock(${lockClass}, ${lockKey}); select pg_current_xact_id()::text as id`;
    const results = [await client.query(text)].flat();
    return String(results.at(-1)?.rows[0]?.id);
  }

  async #wasCommitted(id: string): Promise<boolean> {
    const { clock, log, onFatal } = this.#options;
    const until = clock.monotonic() + doubtMs;
    log.warn('the connection was lost under a commit; asking the server what became of it', { transaction: id });
    for (;;) {
      try {
        const client = await this.#connected();
        const { rows } = await client.query('select pg_xact_status($1::xid8) as status', [id]);
        const status: unknown = rows[0]?.status;
        if (status === 'committed') return true;
        if (status === 'aborted') return false;
      } catch (caught) {
        log.warn('the server cannot say yet what became of a commit', { transaction: id, error: errorText(caught) });
      }
      if (clock.monotonic() >= until) {
        const error = new PlatformError(
          'unavailable',
          `${this.shown} could not be asked for ${doubtMs / 1_000} s whether transaction ${id} was committed: the process has to restart`,
        );
        this.#ended = error;
        onFatal(error);
        throw error;
      }
      await clock.sleep(retryMs);
    }
  }
}

interface OpenOptions {
  readonly client: Client;
  readonly id: string;
  readonly writer: SerialWriter;
  readonly clock: Clock;
  readonly release: () => void;
}

class OpenTransaction implements PostgresTransaction {
  readonly #options: OpenOptions;
  #silence = new AbortController();
  /** Why there is nothing more to be done in it. */
  #over: PlatformError | null = null;

  constructor(options: OpenOptions) {
    this.#options = options;
    this.#listen();
  }

  async query(sql: string, params: readonly unknown[] = []): Promise<QueryResult> {
    if (this.#over) throw this.#over;
    this.#silence.abort();
    const { client, writer } = this.#options;
    try {
      return await client.query(sql, params.map(postgresValue));
    } catch (caught) {
      throw postgresError(caught, sql, writer.shown);
    } finally {
      if (!this.#over) this.#listen();
    }
  }

  async commit(): Promise<void> {
    if (this.#over) throw this.#over;
    const { client, writer, id } = this.#options;
    this.#end('the transaction has ended already');
    try {
      const [committed] = await Promise.allSettled([client.query('commit')]);
      await writer.settle(id, committed);
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
    // A connection that is lost has rolled it back by itself.
    await this.#options.client.query('rollback').catch(() => {});
    this.#options.release();
  }

  #end(reason: string): void {
    this.#silence.abort();
    this.#over = new PlatformError('internal', reason);
    this.#options.writer.ended(this);
  }

  #listen(): void {
    this.#silence.abort();
    const silence = new AbortController();
    this.#silence = silence;
    this.#options.clock.sleep(silenceMs, silence.signal).then(
      () => this.abandon(`the transaction waited ${silenceMs / 1_000} s for its owner and was rolled back`),
      () => {},
    );
  }
}

/** Kysely over one writing connection and a few reading ones: SELECT outside a transaction reads there, everything else is written here. */
import {
  type CompiledQuery,
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
  type QueryResult,
} from 'kysely';
import type { QueryResult as PostgresResult } from 'pg';
import { readsOnly, SharedConnection, SharedDriver } from '../shared-driver.ts';
import type { PostgresReader } from './postgres-reader.ts';
import type { PostgresTransaction, PostgresWriter } from './postgres-writer.ts';

export class PostgresDialect implements Dialect {
  readonly #reader: PostgresReader;
  readonly #writer: PostgresWriter;

  constructor(reader: PostgresReader, writer: PostgresWriter) {
    this.#reader = reader;
    this.#writer = writer;
  }

  createDriver(): Driver {
    return new PostgresDriver(this.#reader, this.#writer);
  }

  createQueryCompiler(): QueryCompiler {
    return new PostgresQueryCompiler();
  }

  createAdapter(): DialectAdapter {
    return new PostgresAdapter();
  }

  // biome-ignore lint/suspicious/noExplicitAny: the signature is Kysely's.
  createIntrospector(db: Kysely<any>): DatabaseIntrospector {
    return new PostgresIntrospector(db);
  }
}

class PostgresDriver extends SharedDriver {
  readonly #reader: PostgresReader;
  readonly #writer: PostgresWriter;

  constructor(reader: PostgresReader, writer: PostgresWriter) {
    super();
    this.#reader = reader;
    this.#writer = writer;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SharedConnection> {
    return new PooledConnection(this.#reader, this.#writer);
  }

  async destroy(): Promise<void> {}
}

class PooledConnection extends SharedConnection {
  readonly #reader: PostgresReader;
  readonly #writer: PostgresWriter;
  #transaction: PostgresTransaction | null = null;

  constructor(reader: PostgresReader, writer: PostgresWriter) {
    super();
    this.#reader = reader;
    this.#writer = writer;
  }

  async begin(): Promise<void> {
    this.#transaction = await this.#writer.begin();
  }

  async commit(): Promise<void> {
    const transaction = this.#transaction;
    this.#transaction = null;
    await transaction?.commit();
  }

  async rollback(): Promise<void> {
    const transaction = this.#transaction;
    this.#transaction = null;
    await transaction?.rollback();
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { sql, parameters } = query;
    if (this.#transaction) return result(await this.#transaction.query(sql, parameters));
    if (readsOnly(query)) return result(await this.#reader.query(sql, parameters));
    return result(await this.#writer.run(sql, parameters));
  }
}

function result<R>({ rows, rowCount }: PostgresResult): QueryResult<R> {
  return { rows: rows as R[], numAffectedRows: BigInt(rowCount ?? 0) };
}

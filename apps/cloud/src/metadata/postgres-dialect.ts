/** Kysely over one writing connection and a few reading ones: SELECT outside a transaction reads there, everything else is written here. */
import { PlatformError } from '@platform/base';
import {
  CompiledQuery,
  type DatabaseConnection,
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
import { readsOnly } from './dialect.ts';
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

class PostgresDriver implements Driver {
  readonly #reader: PostgresReader;
  readonly #writer: PostgresWriter;

  constructor(reader: PostgresReader, writer: PostgresWriter) {
    this.#reader = reader;
    this.#writer = writer;
  }

  async init(): Promise<void> {}

  // Connections are only state: all share one writer and the readers, so there are as many as are asked for.
  async acquireConnection(): Promise<DatabaseConnection> {
    return new SharedConnection(this.#reader, this.#writer);
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await sharedConnection(connection).begin();
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await sharedConnection(connection).commit();
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await sharedConnection(connection).rollback();
  }

  async savepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`savepoint ${quoted(name)}`));
  }

  async rollbackToSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`rollback to ${quoted(name)}`));
  }

  async releaseSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`release ${quoted(name)}`));
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}

class SharedConnection implements DatabaseConnection {
  readonly #reader: PostgresReader;
  readonly #writer: PostgresWriter;
  #transaction: PostgresTransaction | null = null;

  constructor(reader: PostgresReader, writer: PostgresWriter) {
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

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }
}

function sharedConnection(connection: DatabaseConnection): SharedConnection {
  if (connection instanceof SharedConnection) return connection;
  throw new PlatformError('internal', 'expected a connection of this dialect');
}

function result<R>({ rows, rowCount }: PostgresResult): QueryResult<R> {
  return { rows: rows as R[], numAffectedRows: BigInt(rowCount ?? 0) };
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

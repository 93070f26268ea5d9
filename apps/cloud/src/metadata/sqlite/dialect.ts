/** Kysely over one writer thread and one reader: SELECT outside a transaction reads here, everything else is written there. */
import type { DatabaseSync } from 'node:sqlite';
import { ownFault, PlatformError } from '@platform/base';
import {
  type CompiledQuery,
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  type QueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { readsOnly, SharedConnection, SharedDriver } from '../shared-driver.ts';
import { faultError, sqliteFault } from './sqlite-fault.ts';
import { openReadable } from './sqlite-file.ts';
import { Statements } from './statements.ts';
import type { Writer } from './writer.ts';
import type { SqlValue, StatementResult } from './writer-protocol.ts';

export class SqliteThreadDialect implements Dialect {
  readonly #file: string;
  readonly #writer: Writer;

  constructor(file: string, writer: Writer) {
    this.#file = file;
    this.#writer = writer;
  }

  createDriver(): Driver {
    return new ThreadDriver(this.#file, this.#writer);
  }

  createQueryCompiler(): QueryCompiler {
    return new SqliteQueryCompiler();
  }

  createAdapter(): DialectAdapter {
    return new ThreadAdapter();
  }

  // biome-ignore lint/suspicious/noExplicitAny: the signature is Kysely's.
  createIntrospector(db: Kysely<any>): DatabaseIntrospector {
    return new SqliteIntrospector(db);
  }
}

/** Kysely gives SQLite one connection at a time; here readers need not wait for writers, and writers queue on their thread. */
class ThreadAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class ThreadDriver extends SharedDriver {
  readonly #file: string;
  readonly #writer: Writer;
  #db: DatabaseSync | null = null;
  #reader: Statements | null = null;

  constructor(file: string, writer: Writer) {
    super();
    this.#file = file;
    this.#writer = writer;
  }

  async init(): Promise<void> {
    this.#db = openReadable(this.#file);
    this.#reader = new Statements(this.#db);
  }

  async acquireConnection(): Promise<SharedConnection> {
    if (!this.#reader)
      throw ownFault('unavailable', 'the cloud is stopping; try again in a moment', `${this.#file} is closed`);
    return new ThreadConnection(this.#file, this.#writer, this.#reader);
  }

  async destroy(): Promise<void> {
    this.#db?.close();
    this.#db = null;
    this.#reader = null;
  }
}

class ThreadConnection extends SharedConnection {
  readonly #file: string;
  readonly #writer: Writer;
  readonly #reader: Statements;
  #tx: number | null = null;

  constructor(file: string, writer: Writer, reader: Statements) {
    super();
    this.#file = file;
    this.#writer = writer;
    this.#reader = reader;
  }

  async begin(): Promise<void> {
    this.#tx = await this.#writer.begin();
  }

  async commit(): Promise<void> {
    const tx = this.#tx;
    this.#tx = null;
    if (tx !== null) await this.#writer.commit(tx);
  }

  async rollback(): Promise<void> {
    const tx = this.#tx;
    this.#tx = null;
    if (tx !== null) await this.#writer.rollback(tx);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const params = query.parameters.map(bound);
    if (this.#tx !== null) return result(await this.#writer.step(this.#tx, query.sql, params));
    if (!readsOnly(query)) return result(await this.#writer.run(query.sql, params));
    try {
      return result(this.#reader.execute(query.sql, params));
    } catch (caught) {
      throw faultError(sqliteFault(caught), query.sql, this.#file);
    }
  }
}

function result<R>({ rows, changes, insertId }: StatementResult): QueryResult<R> {
  return { rows: rows as R[], numAffectedRows: BigInt(changes), insertId: BigInt(insertId) };
}

/** SQLite has no booleans; a bigint, a string, bytes and null go as they are. */
function bound(value: unknown): SqlValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number' || typeof value === 'string' || typeof value === 'bigint') return value;
  if (value instanceof Uint8Array) return value;
  throw new PlatformError('internal', `a parameter must be a number, text, bytes or null, found ${typeof value}`);
}

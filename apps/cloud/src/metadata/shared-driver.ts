/**
 * Kysely driver for a store with one writer and several readers: SELECT outside a transaction goes to the readers, everything else to
 * the writer. Connections are only state, so their number is unlimited.
 */
import { PlatformError, unavailable } from '@platform/base';
import { CompiledQuery, type DatabaseConnection, type Driver, type QueryResult } from 'kysely';

export interface SharedTransaction {
  query(query: CompiledQuery): Promise<QueryResult<unknown>>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Disposed after the last query; the writer belongs to its owner. */
export interface SharedStore extends Disposable {
  read(query: CompiledQuery): Promise<QueryResult<unknown>>;
  /** A transaction of one statement. */
  write(query: CompiledQuery): Promise<QueryResult<unknown>>;
  begin(): Promise<SharedTransaction>;
}

class SharedConnection implements DatabaseConnection {
  readonly #store: SharedStore;
  #transaction: SharedTransaction | undefined;

  constructor(store: SharedStore) {
    this.#store = store;
  }

  async begin(): Promise<void> {
    this.#transaction = await this.#store.begin();
  }

  commit(): Promise<void> | undefined {
    return this.#end()?.commit();
  }

  rollback(): Promise<void> | undefined {
    return this.#end()?.rollback();
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const result = this.#transaction
      ? this.#transaction.query(query)
      : readsOnly(query)
        ? this.#store.read(query)
        : this.#store.write(query);
    return (await result) as QueryResult<R>;
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  #end(): SharedTransaction | undefined {
    const transaction = this.#transaction;
    this.#transaction = undefined;
    return transaction;
  }
}

export class SharedDriver implements Driver {
  readonly #open: () => SharedStore;
  #store: SharedStore | undefined;

  constructor(open: () => SharedStore) {
    this.#open = open;
  }

  async init(): Promise<void> {
    this.#store = this.#open();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#store === undefined) throw unavailable('the cloud is stopping; try again in a moment');
    return new SharedConnection(this.#store);
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await shared(connection).begin();
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await shared(connection).commit();
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await shared(connection).rollback();
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

  async destroy(): Promise<void> {
    this.#store?.[Symbol.dispose]();
    this.#store = undefined;
  }
}

/** Whether a query changes nothing, and so needs no transaction. */
function readsOnly(query: CompiledQuery): boolean {
  return query.query.kind === 'SelectQueryNode' || (query.query.kind === 'RawNode' && /^\s*select\b/i.test(query.sql));
}

function shared(connection: DatabaseConnection): SharedConnection {
  if (connection instanceof SharedConnection) return connection;
  throw new PlatformError('internal', 'expected a connection of this dialect');
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

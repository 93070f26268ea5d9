/**
 * What Kysely's drivers of both stores have in common: connections are only state, all share the writer and the readers, so there
 * are as many as are asked for.
 */
import { PlatformError } from '@platform/base';
import { CompiledQuery, type DatabaseConnection, type Driver, type QueryResult } from 'kysely';

/** Outside a transaction it reads and writes by itself; between begin and its end all goes to the writer. */
export abstract class SharedConnection implements DatabaseConnection {
  abstract begin(): Promise<void>;
  abstract commit(): Promise<void>;
  abstract rollback(): Promise<void>;
  abstract executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>>;

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }
}

export abstract class SharedDriver implements Driver {
  abstract init(): Promise<void>;
  abstract acquireConnection(): Promise<SharedConnection>;
  abstract destroy(): Promise<void>;

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
}

/** Whether a query changes nothing, and so needs no transaction. */
export function readsOnly(query: CompiledQuery): boolean {
  return query.query.kind === 'SelectQueryNode' || (query.query.kind === 'RawNode' && /^\s*select\b/i.test(query.sql));
}

function shared(connection: DatabaseConnection): SharedConnection {
  if (connection instanceof SharedConnection) return connection;
  throw new PlatformError('internal', 'expected a connection of this dialect');
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

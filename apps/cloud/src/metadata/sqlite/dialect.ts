/** A Kysely dialect with one writer thread and one reader on this thread. */
import { PlatformError } from '@platform/base';
import {
  type CompiledQuery,
  type Dialect,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { SharedDriver, type SharedStore } from '../shared-driver.ts';
import { canBeRead } from './can-be-read.ts';
import { faultError, isUnreadable, readFault } from './sqlite-fault.ts';
import { openReadable } from './sqlite-file.ts';
import { Statements } from './statements.ts';
import type { Writer } from './writer.ts';
import type { SqlValue, StatementResult } from './writer-protocol.ts';

/** @param onFatal called when the disk fails while it is read; the process must exit (I2) */
export function sqliteThreadDialect(file: string, writer: Writer, onFatal: (error: Error) => void): Dialect {
  return {
    createDriver: () => new SharedDriver(() => openStore(file, writer, onFatal)),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new ThreadAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

/** Kysely allows only one SQLite connection at a time. Here readers need not wait for writers, and writers queue on their thread. */
class ThreadAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

function openStore(file: string, writer: Writer, onFatal: (error: Error) => void): SharedStore {
  const db = openReadable(file);
  const reader = new Statements(db);
  return {
    async read({ sql, parameters }) {
      const values = parameters.map(bound);
      try {
        return resultOf(reader.execute(sql, values));
      } catch (caught) {
        const error = faultError(readFault(caught), sql, file);
        // A damaged page fails what needs it; a disk that is gone ends the process.
        if (isUnreadable(caught) && !canBeRead(file)) onFatal(error);
        throw error;
      }
    },
    write: async ({ sql, parameters }) => resultOf(await writer.run(sql, parameters.map(bound))),
    async begin() {
      const id = await writer.begin();
      return {
        query: async ({ sql, parameters }: CompiledQuery) =>
          resultOf(await writer.step(id, sql, parameters.map(bound))),
        commit: () => writer.commit(id),
        rollback: () => writer.rollback(id),
      };
    },
    [Symbol.dispose]: () => db.close(),
  };
}

function resultOf({ rows, changes, insertId }: StatementResult): QueryResult<unknown> {
  return { rows: rows as unknown[], numAffectedRows: BigInt(changes), insertId: BigInt(insertId) };
}

/** SQLite has no booleans; bigints, strings, bytes and null are passed unchanged. */
function bound(value: unknown): SqlValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number' || typeof value === 'string' || typeof value === 'bigint') return value;
  if (value instanceof Uint8Array) return value;
  throw new PlatformError('internal', `a parameter must be a number, text, bytes or null, found ${typeof value}`);
}

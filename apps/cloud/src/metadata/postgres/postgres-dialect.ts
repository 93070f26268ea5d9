/** A Kysely dialect with one connection that writes and a few that read. */
import {
  type CompiledQuery,
  type Dialect,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type { QueryResult as PostgresResult } from 'pg';
import { SharedDriver, type SharedStore } from '../shared-driver.ts';
import type { PostgresReader } from './postgres-reader.ts';
import type { PostgresWriter } from './postgres-writer.ts';

export function postgresDialect(reader: PostgresReader, writer: PostgresWriter): Dialect {
  const store: SharedStore = {
    read: async ({ sql, parameters }) => resultOf(await reader.query(sql, parameters)),
    write: async ({ sql, parameters }) => resultOf(await writer.run(sql, parameters)),
    async begin() {
      const transaction = await writer.begin();
      return {
        query: async ({ sql, parameters }: CompiledQuery) => resultOf(await transaction.query(sql, parameters)),
        commit: () => transaction.commit(),
        rollback: () => transaction.rollback(),
      };
    },
    [Symbol.dispose]() {},
  };
  return {
    createDriver: () => new SharedDriver(() => store),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}

function resultOf({ rows, rowCount }: PostgresResult): QueryResult<unknown> {
  return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
}

/** Runs one statement over files; its answer comes chunk by chunk. */
import {
  BIGINT,
  DOUBLE,
  type DuckDBConnection,
  type DuckDBResult,
  type DuckDBType,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api';
import { Chunk } from './chunk.ts';
import type { OpenFile } from './open-files.ts';
import type { Bind } from './sql.ts';

const types: Readonly<Record<Bind['type'], DuckDBType>> = { double: DOUBLE, bigint: BIGINT, text: VARCHAR };

/** @param gathered all rows are gathered by DuckDB before the first is handed over. */
export function openStatement(
  connection: DuckDBConnection,
  sql: string,
  files: readonly Pick<OpenFile, 'path'>[],
  binds: readonly Bind[],
  gathered = false,
): Promise<DuckDBResult> {
  const values = [listValue(files.map(({ path }) => path)), ...binds.map(({ value }) => value)];
  const valueTypes = [LIST(VARCHAR), ...binds.map(({ type }) => types[type])];
  // A LIMIT to be safe would keep DuckDB from using more than one thread.
  return gathered ? connection.run(sql, values, valueTypes) : connection.stream(sql, values, valueTypes);
}

/** Each chunk is read before the next is asked for. */
export async function* chunksOf(opened: Promise<DuckDBResult>): AsyncGenerator<Chunk> {
  const result = await opened;
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    yield new Chunk(chunk.chunk, chunk.rowCount);
  }
}

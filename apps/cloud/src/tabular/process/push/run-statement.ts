/** Runs one statement over files and hands over its answer chunk by chunk. */
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

/**
 * Each chunk is read before the next is asked for.
 * @param gathered so many rows are gathered by DuckDB; if there are more, all come as they are found.
 */
export async function* runStatement(
  connection: DuckDBConnection,
  sql: string,
  files: readonly Pick<OpenFile, 'path'>[],
  binds: readonly Bind[],
  gathered = 0,
): AsyncGenerator<Chunk> {
  const values = [listValue(files.map(({ path }) => path)), ...binds.map(({ value }) => value)];
  const valueTypes = [LIST(VARCHAR), ...binds.map(({ type }) => types[type])];
  if (gathered > 0) {
    const result = await connection.run(`${sql} LIMIT ${gathered + 1}`, values, valueTypes);
    if (result.rowCount <= gathered) return yield* chunksOf(result);
  }
  yield* chunksOf(await connection.stream(sql, values, valueTypes));
}

async function* chunksOf(result: DuckDBResult): AsyncGenerator<Chunk> {
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    yield new Chunk(chunk.chunk, chunk.rowCount);
  }
}

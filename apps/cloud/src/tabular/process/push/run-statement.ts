/** Runs one statement over files and hands over its answer chunk by chunk. */
import { BIGINT, DOUBLE, type DuckDBConnection, type DuckDBType, LIST, listValue, VARCHAR } from '@duckdb/node-api';
import { Chunk } from './chunk.ts';
import type { OpenFile } from './open-files.ts';
import type { Bind } from './sql.ts';

const types: Readonly<Record<Bind['type'], DuckDBType>> = { double: DOUBLE, bigint: BIGINT, text: VARCHAR };

/** Each chunk is read before the next is asked for. */
export async function* runStatement(
  connection: DuckDBConnection,
  sql: string,
  files: readonly Pick<OpenFile, 'path'>[],
  binds: readonly Bind[],
): AsyncGenerator<Chunk> {
  const paths = listValue(files.map(({ path }) => path));
  const result = await connection.stream(
    sql,
    [paths, ...binds.map(({ value }) => value)],
    [LIST(VARCHAR), ...binds.map(({ type }) => types[type])],
  );
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    yield new Chunk(chunk.chunk, chunk.rowCount);
  }
}

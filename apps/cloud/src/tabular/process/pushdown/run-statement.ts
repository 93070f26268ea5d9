/**
 * Runs one statement over files. Its result arrives chunk by chunk, complete or with an error.
 *
 * DuckDB's interface reports the end of a stream and a failure in its middle in the same way: no more chunks. So our own row follows the
 * last one, and a result without it is a failure (I7, D33).
 */
import {
  BIGINT,
  DOUBLE,
  type DuckDBConnection,
  type DuckDBResult,
  type DuckDBType,
  type DuckDBValue,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api';
import type { Bind } from './conditions/sql.ts';
import { Chunk } from './rows/chunk.ts';

const types: Readonly<Record<Bind['type'], DuckDBType>> = { double: DOUBLE, bigint: BIGINT, text: VARCHAR };

export interface FileStatement {
  /** `$1` is the list of the files' paths. */
  readonly sql: string;
  readonly files: readonly { readonly path: string }[];
  /** Values from `$2` on. */
  readonly binds: readonly Bind[];
  /** Columns of a streamed result; absent: DuckDB gathers all rows before the first is returned. */
  readonly columns?: number;
}

export interface OpenStatement {
  readonly result: DuckDBResult;
  /** Number of rows of a gathered result. */
  readonly rows: number | undefined;
  /** Runs the statement again to find out why it ended early. */
  readonly explain: () => Promise<unknown>;
}

export async function openStatement(
  connection: DuckDBConnection,
  { sql, files, binds, columns }: FileStatement,
): Promise<OpenStatement> {
  const values: DuckDBValue[] = [listValue(files.map(({ path }) => path)), ...binds.map(({ value }) => value)];
  const valueTypes = [LIST(VARCHAR), ...binds.map(({ type }) => types[type])];
  const gather = (): ReturnType<DuckDBConnection['run']> => connection.run(sql, values, valueTypes);
  if (columns === undefined) {
    const result = await gather();
    return { result, rows: result.rowCount, explain: gather };
  }
  const none = new Array<string>(columns).fill('NULL').join(', ');
  // A LIMIT for safety would restrict DuckDB to one thread.
  const whole = `SELECT *, false FROM (${sql}) UNION ALL SELECT ${none}, is_end FROM end_of_rows`;
  return { result: await connection.stream(whole, values, valueTypes), rows: undefined, explain: gather };
}

export async function* chunksOf(connection: DuckDBConnection, statement: FileStatement): AsyncGenerator<Chunk> {
  yield* readChunks(openStatement(connection, statement), statement);
}

/**
 * Each chunk must be read before the next is requested.
 * @param isInterrupted whether the statement was ended deliberately; the reason is then not looked up
 */
export async function* readChunks(
  opened: Promise<OpenStatement>,
  { columns }: Pick<FileStatement, 'columns'>,
  isInterrupted: () => boolean = () => false,
): AsyncGenerator<Chunk> {
  const { result, rows, explain } = await opened;
  let read = 0;
  for (;;) {
    const raw = await result.fetchChunk();
    if (raw === null || raw.rowCount === 0) break;
    const chunk = new Chunk(raw.chunk, raw.rowCount);
    if (columns !== undefined && chunk.bytes(columns)[chunk.rows - 1] === 1) {
      // The end row may be in its own chunk, or follow the last rows.
      if (chunk.rows > 1) yield chunk.slice(0, chunk.rows - 1);
      return;
    }
    read += chunk.rows;
    yield chunk;
  }
  if (rows === read) return;
  if (!isInterrupted()) await explain();
  throw new Error(`an answer of the store ended after ${read} rows, before its end`);
}

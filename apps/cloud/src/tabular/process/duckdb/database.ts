/** The child's DuckDB: in memory, locked down, started when first needed. */
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBInstance, DuckDBValue } from '@duckdb/node-api';

/** A table of one row, which is behind the rows of a statement that are streamed (pushdown/run-statement.ts). */
const endOfRowsTable = 'CREATE TABLE end_of_rows AS SELECT true AS is_end';

export interface Database {
  /** One that was given back, or a new one. */
  connect(): Promise<DuckDBConnection>;
  /** Keeps a connection for whoever connects next: nothing runs on it, and nothing is left to read. Closing one takes milliseconds. */
  giveBack(connection: DuckDBConnection): void;
}

export interface DatabaseOptions {
  readonly parquetDir: string;
  readonly memoryBytes: number;
  readonly threads: number;
  /** Beside the one that answers queries; its limit of memory may be set again. Default false. */
  readonly isWriter?: boolean;
}

/** Connections that wait for the next query. */
const mostIdle = 8;

/**
 * User text never reaches DuckDB; as a second line it may touch no file but our Parquet directory, load no extension and change no
 * setting. Nothing is loaded before the first connect(): a cloud without readings does not pay for an engine.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const { parquetDir, isWriter = false } = options;
  const idle: DuckDBConnection[] = [];
  let opened: Promise<DuckDBInstance> | undefined;
  const open = async (): Promise<DuckDBInstance> => {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const instance = await DuckDBInstance.create(':memory:', {
      threads: String(options.threads),
      memory_limit: `${Math.ceil(options.memoryBytes / 1e6)}MB`,
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    const connection = await instance.connect();
    // It makes joins of lists, and rows come out of them in another order.
    await connection.run("SET disabled_optimizers='in_clause'");
    // Of two engines that spill into one folder, each would take the other's files for its own.
    const temporary = isWriter ? temporaryFolders.writer : temporaryFolders.queries;
    await connection.run(`SET temp_directory=${quoted(join(parquetDir, temporary))}`);
    await connection.run(endOfRowsTable);
    await connection.run(`SET allowed_directories=[${quoted(join(parquetDir, '/'))}]`);
    await connection.run('SET enable_external_access=false');
    // It takes what it kept of a file for the file itself as long as the time of change is the same, to the second: too coarse for one
    // that was damaged and put right (verify-files.ts). The system keeps files in memory as well, and queries take as long.
    await connection.run('SET enable_external_file_cache=false');
    if (!isWriter) await connection.run('SET lock_configuration=true');
    connection.closeSync();
    return instance;
  };
  return {
    async connect() {
      opened ??= open();
      const instance = await opened;
      return idle.pop() ?? instance.connect();
    },
    giveBack(connection) {
      if (idle.length < mostIdle) idle.push(connection);
      else connection.closeSync();
    },
  };
}

/** All rows of a statement whose answer is small; fails rather than answering a part of them. */
export async function readRows(
  connection: DuckDBConnection,
  sql: string,
  binds: readonly DuckDBValue[] = [],
): Promise<unknown[][]> {
  const result = await connection.run(sql, [...binds]);
  const rows = await result.getRows();
  if (rows.length !== result.rowCount)
    throw new Error(`expected ${result.rowCount} rows of an answer, could read ${rows.length}`);
  return rows;
}

/** The connections of one query: used again, together interrupted, together closed. */
export class Connections {
  readonly #database: Database;
  readonly #opened: DuckDBConnection[] = [];
  readonly #free: DuckDBConnection[] = [];
  /** What runs was ended on purpose. */
  isInterrupted = false;

  constructor(database: Database) {
    this.#database = database;
  }

  async take(): Promise<DuckDBConnection> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const opened = await this.#database.connect();
    this.#opened.push(opened);
    return opened;
  }

  /** Nothing runs on it any more. */
  give(connection: DuckDBConnection): void {
    this.#free.push(connection);
  }

  interrupt(): void {
    this.isInterrupted = true;
    for (const connection of this.#opened) connection.interrupt();
  }

  close(): void {
    for (const connection of this.#opened)
      if (!this.isInterrupted && this.#free.includes(connection)) this.#database.giveBack(connection);
      else connection.closeSync();
  }
}

/** Below parquet/: what DuckDB moves out of memory while it sorts. Removed at each start (remove-unlisted.ts). */
const temporaryFolders = { queries: '.tmp', writer: '.tmp-write' } as const;

/** A SQL text literal of a text of ours. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Below parquet/: rows that are not sealed yet, in files. */
export const hotFolder = '.hot';

/** The child's DuckDB: in memory, locked down, started when first needed. */
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBInstance, DuckDBValue } from '@duckdb/node-api';

/** A table of one row, appended to the rows of a streamed statement (pushdown/run-statement.ts). */
const endOfRowsTable = 'CREATE TABLE end_of_rows AS SELECT true AS is_end';

export interface Database {
  /** Returns an idle connection or a new one. */
  connect(): Promise<DuckDBConnection>;
  /**
   * Keeps a connection for the next query. Nothing may be running on it, and nothing may be left to read. Closing a connection takes
   * milliseconds.
   */
  giveBack(connection: DuckDBConnection): void;
}

export interface DatabaseOptions {
  readonly parquetDir: string;
  readonly memoryBytes: number;
  readonly threads: number;
  /** Whether it writes files instead of answering queries; its memory limit may then be changed. Default false. */
  readonly isWriter?: boolean;
}

/** Maximum number of idle connections. */
const mostIdle = 8;

/**
 * User text never reaches DuckDB. As a second line of defence, DuckDB may touch no file outside our Parquet directory, load no extension
 * and change no setting. Nothing is loaded before the first connect(), so a cloud without readings needs no memory for an engine.
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
    // The optimizer turns lists into joins, which change the order of rows.
    await connection.run("SET disabled_optimizers='in_clause'");
    // Two engines that spill into one folder would mistake each other's files for their own.
    const temporary = isWriter ? temporaryFolders.writer : temporaryFolders.queries;
    await connection.run(`SET temp_directory=${quoted(join(parquetDir, temporary))}`);
    await connection.run(endOfRowsTable);
    await connection.run(`SET allowed_directories=[${quoted(join(parquetDir, '/'))}]`);
    await connection.run('SET enable_external_access=false');
    // The cache trusts a file while its modification time is the same to the second: too coarse for a file that was damaged and restored
    // (verify-files.ts). The operating system also caches files, and queries are as fast without this cache.
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

/** All rows of a statement with a small answer; fails rather than returning only a part. */
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

/** The connections of one query: reused, and interrupted and closed together. */
export class Connections {
  readonly #database: Database;
  readonly #opened: DuckDBConnection[] = [];
  readonly #free: DuckDBConnection[] = [];
  /** Running statements were ended deliberately. */
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

  /** Takes back a connection on which nothing runs any more. */
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

/** Folders below parquet/ for data that DuckDB spills while it sorts. Removed at each start (remove-unlisted.ts). */
const temporaryFolders = { queries: '.tmp', writer: '.tmp-write' } as const;

/** SQL literal of a trusted text. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Folder below parquet/ for files of unsealed rows. */
export const hotFolder = '.hot';

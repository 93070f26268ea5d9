/**
 * Hot rows of a range of positions: one DuckDB table and its dictionary of series.
 *
 * States: open (the loader appends) → frozen (being sealed, or waiting for it) → dropped (its files are listed, no query needs it).
 * Dropping a table gives its memory back at once, which deleting rows would not.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Series } from '../series.ts';
import type { RowBuffer } from './row-buffer.ts';

export interface Segment {
  /** Table name. */
  readonly table: string;
  /** Rows are of positions in (from, to]. */
  readonly from: number;
  to: number;
  rows: number;
  dataBytes: number;
  /** Monotonic ms at which the first position came; undefined: none yet. */
  filledSinceMs: number | undefined;
  readonly series: Series[];
  /** Number of a series; equal series have one. */
  seriesId(series: Series): number;
  /** Creates the table; append does it by itself. */
  create(connection: DuckDBConnection): Promise<void>;
  /** Appends all rows or none (I8) and moves `to`. */
  append(connect: () => Promise<DuckDBConnection>, rows: RowBuffer, to: number): Promise<void>;
}

const columns = `position BIGINT NOT NULL, "index" INTEGER NOT NULL, series INTEGER NOT NULL,
  time_requested BIGINT NOT NULL, time_received BIGINT NOT NULL, time_synced BIGINT NOT NULL, capture_day INTEGER NOT NULL, data BLOB NOT NULL`;

export function createSegment(table: string, from: number, monotonic: () => number): Segment {
  const ids = new Map<string, number>();
  let created = false;
  return {
    table,
    from,
    to: from,
    rows: 0,
    dataBytes: 0,
    filledSinceMs: undefined,
    series: [],
    seriesId(series) {
      const key = JSON.stringify([
        series.path,
        series.tags,
        Buffer.from(series.additionalParameters).toString('latin1'),
      ]);
      let id = ids.get(key);
      if (id === undefined) {
        id = this.series.push(series) - 1;
        ids.set(key, id);
      }
      return id;
    },
    async create(connection) {
      await connection.run(`CREATE TABLE IF NOT EXISTS ${table} (${columns})`);
      created = true;
    },
    async append(connect, rows, to) {
      if (rows.rows > 0) {
        const connection = await connect();
        if (!created) await this.create(connection);
        // Loaded late, with DuckDB itself.
        const { appendRows } = await import('./append-rows.ts');
        await connection.run('BEGIN');
        try {
          await appendRows(connection, table, rows);
          await connection.run('COMMIT');
        } catch (caught) {
          await connection.run('ROLLBACK').catch(() => {});
          throw caught;
        }
        this.rows += rows.rows;
        this.dataBytes += rows.dataBytes;
      }
      this.filledSinceMs ??= monotonic();
      this.to = to;
    },
  };
}

/**
 * The DuckDB that sorts rows and writes them to files. It is apart from that of queries: it has one thread and little memory, and spills.
 * With more threads DuckDB collects sorted rows by the hundreds of megabytes while it compresses those before them.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { largeRows } from '../large-rows.ts';
import { type Database, openDatabase } from './database.ts';
import { leafColumns } from './file-facts.ts';
import { rowGroupRows } from './row-group.ts';
import type { Slice } from './slice.ts';

export interface Writer {
  /**
   * Runs what reads the rows of slices and writes them. One call at a time.
   * @param work starts again from the beginning, with all memory that there may be, when what was estimated is not enough.
   */
  write<T>(slices: readonly Slice[], work: (connection: DuckDBConnection) => Promise<T>): Promise<T>;
}

export interface WriterOptions {
  readonly parquetDir: string;
  /** The most that it takes. */
  readonly memoryBytes: number;
  /** BSON bytes that go into one file. */
  readonly fileBytes: number;
}

export function createWriter({ parquetDir, memoryBytes, fileBytes }: WriterOptions): Writer {
  const database: Database = openDatabase({ parquetDir, memoryBytes, threads: 1, isWriter: true });
  return {
    async write(slices, work) {
      const connection = await database.connect();
      const limit = async (bytes: number): Promise<unknown> =>
        connection.run(`SET memory_limit = '${Math.ceil(bytes / 1e6)}MB'`);
      try {
        const room = Math.min(memoryBytes, roomFor(slices, fileBytes));
        await limit(room);
        try {
          return await work(connection);
        } catch (caught) {
          if (room === memoryBytes || !isOutOfMemory(caught)) throw caught;
          await limit(memoryBytes);
          return await work(connection);
        }
      } finally {
        connection.closeSync();
      }
    },
  };
}

/** Of a row beside its document: position, times, the columns of its path. */
const rowBytes = 320;
const cellBytes = 16;
/** What sorting needs that cannot be spilled, however small the rows. */
const leastBytes = 64_000_000;
/** Copies of a row group: rows on their way from the sort, the group itself, its pages before and after compression. */
const copies = 3.25;

/** Memory with which rows of slices are sorted and written: what DuckDB cannot spill, and some room to sort in. */
export function roomFor(slices: readonly Slice[], fileBytes: number): number {
  const rows = slices.reduce((sum, slice) => sum + slice.rows, 0);
  if (rows === 0) return leastBytes;
  const dataBytes = slices.reduce((sum, { series }) => sum + series.reduce((own, each) => own + each.dataBytes, 0), 0);
  const average = dataBytes / rows;
  // How many of them DuckDB reads at a time decides, not how many stand in a row group.
  if (average > largeRows.rowBytes) return Number.POSITIVE_INFINITY;
  const columns = new Set(slices.flatMap(({ leaves }) => leaves.flatMap((leaf) => Object.values(leafColumns(leaf)))));
  // A file takes up to half as much again as it should.
  const groupRows = Math.min(rows, rowGroupRows, (1.5 * fileBytes) / average);
  return leastBytes + copies * groupRows * (rowBytes + average + cellBytes * columns.size);
}

function isOutOfMemory(caught: unknown): boolean {
  return caught instanceof Error && /^Out of Memory Error/.test(caught.message);
}

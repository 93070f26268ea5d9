/**
 * The DuckDB instance that sorts rows and writes them to files, separate from the one for queries. It has one thread and little memory, and
 * spills. With more threads, DuckDB would collect hundreds of megabytes of sorted rows while it compresses the preceding rows.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { largeRows } from '../../query/large-rows.ts';
import { leafColumns } from '../files/file-facts.ts';
import { rowsOfGroup, vectorRows } from '../files/row-group.ts';
import { averageBytes, type Slice } from '../files/slice.ts';
import { type Database, openDatabase } from './database.ts';

export interface Writer {
  /**
   * Runs work that reads the rows of slices and writes them. One call at a time.
   * @param work is restarted from the beginning with all memory allowed if the estimate was too low
   */
  write<T>(slices: readonly Slice[], work: (connection: DuckDBConnection) => Promise<T>): Promise<T>;
}

export interface WriterOptions {
  readonly parquetDir: string;
  /** Memory limit. */
  readonly memoryBytes: number;
  /** Maximum size of the documents in a row group. */
  readonly rowGroupBytes: number;
}

export function createWriter({ parquetDir, memoryBytes, rowGroupBytes }: WriterOptions): Writer {
  const database: Database = openDatabase({ parquetDir, memoryBytes, threads: 1, isWriter: true });
  return {
    async write(slices, work) {
      const connection = await database.connect();
      const limit = async (bytes: number): Promise<unknown> =>
        connection.run(`SET memory_limit = '${Math.ceil(bytes / 1e6)}MB'`);
      try {
        const room = Math.min(memoryBytes, roomFor(slices, rowGroupBytes));
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

/** Estimated bytes of a row besides its document: position, times and path columns. */
const rowBytes = 320;
const cellBytes = 16;
/** Memory that sorting needs and cannot spill, however small the rows are. */
const leastBytes = 36_000_000;
/** Copies of a row group: rows on their way from the sort, the group itself, and its pages before and after compression. */
const copies = 2.75;
/** Vectors of rows in progress in all steps together; they matter when rows are wide. */
const vectors = 8;

/** For large rows: reading, sorting and writing a file of them (largeRows.fileBytes) takes about ten times its bytes. */
const largeRowsBytes = 320_000_000;

/** Memory needed to sort and write the rows of slices: what DuckDB cannot spill, and some room for sorting. */
export function roomFor(slices: readonly Slice[], rowGroupBytes: number): number {
  const average = averageBytes(slices);
  // The number of rows that DuckDB reads at a time decides, not the size of a row group.
  if (average > largeRows.rowBytes) return largeRowsBytes;
  const columns = new Set(slices.flatMap(({ leaves }) => leaves.flatMap((leaf) => Object.values(leafColumns(leaf)))));
  // Texts are stored in their columns and in the documents.
  const wholeRow = rowBytes + 2 * average + cellBytes * columns.size;
  return leastBytes + (copies * rowsOfGroup(average, rowGroupBytes) + vectors * vectorRows) * wholeRow;
}

function isOutOfMemory(caught: unknown): boolean {
  return caught instanceof Error && /^Out of Memory Error/.test(caught.message);
}

/**
 * The DuckDB that sorts rows and writes them to files. It is apart from that of queries: it has one thread and little memory, and spills.
 * With more threads DuckDB collects sorted rows by the hundreds of megabytes while it compresses those before them.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { largeRows } from '../../query/large-rows.ts';
import { leafColumns } from '../files/file-facts.ts';
import { rowsOfGroup, vectorRows } from '../files/row-group.ts';
import { averageBytes, type Slice } from '../files/slice.ts';
import { type Database, openDatabase } from './database.ts';

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
}

export function createWriter({ parquetDir, memoryBytes }: WriterOptions): Writer {
  const database: Database = openDatabase({ parquetDir, memoryBytes, threads: 1, isWriter: true });
  return {
    async write(slices, work) {
      const connection = await database.connect();
      const limit = async (bytes: number): Promise<unknown> =>
        connection.run(`SET memory_limit = '${Math.ceil(bytes / 1e6)}MB'`);
      try {
        const room = Math.min(memoryBytes, roomFor(slices));
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
const leastBytes = 36_000_000;
/** Copies of a row group: rows on their way from the sort, the group itself, its pages before and after compression. */
const copies = 2.75;
/** Of the rows that it handles at a time, at all steps together; they count where rows are wide. */
const vectors = 8;

/** Of large rows: a file of them (largeRows.fileBytes) is read, sorted and written in some ten times its bytes. */
const largeRowsBytes = 320_000_000;

/** Memory with which rows of slices are sorted and written: what DuckDB cannot spill, and some room to sort in. */
export function roomFor(slices: readonly Slice[]): number {
  const average = averageBytes(slices);
  // How many of them DuckDB reads at a time decides, not how many are in a row group.
  if (average > largeRows.rowBytes) return largeRowsBytes;
  const columns = new Set(slices.flatMap(({ leaves }) => leaves.flatMap((leaf) => Object.values(leafColumns(leaf)))));
  // Texts are in their columns as well as in the documents.
  const wholeRow = rowBytes + 2 * average + cellBytes * columns.size;
  return leastBytes + (copies * rowsOfGroup(average) + vectors * vectorRows) * wholeRow;
}

function isOutOfMemory(caught: unknown): boolean {
  return caught instanceof Error && /^Out of Memory Error/.test(caught.message);
}

/** Rows into a DuckDB table by column chunks, the only fast way in. */
import { BIGINT, BLOB, type DuckDBConnection, DuckDBDataChunk, INTEGER } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import type { RowBuffer } from './row-buffer.ts';

const types = [BIGINT, INTEGER, INTEGER, BIGINT, BIGINT, BIGINT, INTEGER, BLOB];
/** Rows of a DuckDB vector. */
const chunkRows = 2048;

/** Appends inside the connection's transaction; the caller commits. */
export async function appendRows(connection: DuckDBConnection, table: string, rows: RowBuffer): Promise<void> {
  const appender = await connection.createAppender(table);
  try {
    for (let from = 0; from < rows.rows; from += chunkRows) {
      const count = Math.min(chunkRows, rows.rows - from);
      const chunk = DuckDBDataChunk.create(types, count);
      const vector = (column: number): ReturnType<typeof duckdb.data_chunk_get_vector> =>
        duckdb.data_chunk_get_vector(chunk.chunk, column);
      const numbers = [
        rows.position,
        rows.index,
        rows.series,
        rows.timeRequested,
        rows.timeReceived,
        rows.timeSynced,
        rows.captureDay,
      ];
      for (const [column, values] of numbers.entries()) {
        const bytes = values.BYTES_PER_ELEMENT;
        duckdb.copy_data_to_vector(
          vector(column),
          0,
          values.buffer as ArrayBuffer,
          values.byteOffset + from * bytes,
          count * bytes,
        );
      }
      const data = vector(numbers.length);
      for (let row = 0; row < count; row++)
        duckdb.vector_assign_string_element_len(data, row, rows.data[from + row] as Uint8Array);
      appender.appendDataChunk(chunk);
    }
    appender.flushSync();
  } finally {
    appender.closeSync();
  }
}

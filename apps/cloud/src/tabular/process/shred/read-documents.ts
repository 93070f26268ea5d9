/** The documents of rows in the order of a table, chunk by chunk, with as few copies out of DuckDB's memory as there are stretches of it. */
import type { DuckDBConnection } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';

/** Documents that stand end to end. */
export interface DocumentRun {
  readonly bytes: Uint8Array;
  /** Row of the first, counted from the chunk's first. */
  readonly row: number;
  /** Where each ends. */
  readonly ends: readonly number[];
}

export interface DocumentChunk {
  readonly rows: number;
  readonly runs: Iterable<DocumentRun>;
}

/** @param select SQL with one BLOB column. */
export async function* readDocuments(connection: DuckDBConnection, select: string): AsyncGenerator<DocumentChunk> {
  const result = await connection.stream(select);
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    const rows = chunk.rowCount;
    const cells = duckdb.vector_get_data(duckdb.data_chunk_get_vector(chunk.chunk, 0), rows * cellBytes);
    yield { rows, runs: runsOf(cells, rows) };
  }
}

const cellBytes = 16;
/** Up to so many bytes stand in the cell itself, behind the length; of longer ones the cell has the address. */
const inlineBytes = 12;
const maxRunBytes = 1 << 20;

function* runsOf(cells: Uint8Array, rows: number): Generator<DocumentRun> {
  const words = new Uint32Array(cells.buffer, cells.byteOffset, rows * 4);
  const addressOf = (row: number): number => (words[row * 4 + 2] as number) + (words[row * 4 + 3] as number) * 2 ** 32;
  for (let row = 0; row < rows; ) {
    const first = row;
    let end = words[row * 4] as number;
    const ends = [end];
    row++;
    if (end <= inlineBytes) {
      const at = first * cellBytes + 4;
      // A copy: the cells are DuckDB's, and go with the chunk.
      yield { bytes: new Uint8Array(cells.subarray(at, at + end)), row: first, ends };
      continue;
    }
    const address = addressOf(first);
    // Only where the next document begins exactly where this one ends: between them may be memory of nobody.
    while (row < rows && end < maxRunBytes) {
      const length = words[row * 4] as number;
      if (length <= inlineBytes || addressOf(row) !== address + end) break;
      end += length;
      ends.push(end);
      row++;
    }
    const bytes = duckdb.get_data_from_pointer(
      cells.buffer as ArrayBuffer,
      cells.byteOffset + first * cellBytes + 8,
      end,
    );
    yield { bytes, row: first, ends };
  }
}

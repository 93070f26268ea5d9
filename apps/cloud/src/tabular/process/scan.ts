/** Streams the rows of a snapshot as batches of documents: files first, then hot rows. */
import type { DuckDBConnection } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import type { Batch } from '@platform/query';
import type { ScanRequest } from './messages.ts';
import type { RowColumns } from './row-documents.ts';
import { documentOverheadBytes, rowDocuments } from './row-documents.ts';
import { type Select, type Source, selectRows } from './source.ts';

export interface Scan {
  /** Logical bytes of the rows that were read so far (D26). */
  scannedBytes: number;
}

/** @param sources is asked for one after the other, so that a file is opened only when it is its turn. */
export async function* scanRows(
  connection: DuckDBConnection,
  sources: AsyncIterable<Source>,
  request: ScanRequest,
  scan: Scan,
): AsyncGenerator<Batch> {
  for await (const source of sources) {
    const select = selectRows(source, request);
    if (select === undefined) continue;
    const encode = rowDocuments(source.series, request.vocabulary);
    const overheads = source.series.map(documentOverheadBytes);
    const result = await connection.stream(select.sql, select.binds);
    for (;;) {
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) break;
      const columns = columnsOf(chunk.chunk, chunk.rowCount);
      scan.scannedBytes += scopedBytes(columns, select, overheads);
      yield encode(columns);
    }
  }
}

/** Logical bytes of the rows. Throws when a row is outside the scope: whatever went wrong before, it is not answered. */
function scopedBytes({ rows, series, data }: RowColumns, { allowed }: Select, overheads: readonly number[]): number {
  let bytes = 0;
  for (let row = 0; row < rows; row++) {
    const number = series[row] as number;
    if (allowed[number] !== 1) throw new Error('a row outside the scope of the query was read; nothing is answered');
    bytes += (overheads[number] as number) + (data[row] as Uint8Array).length;
  }
  return bytes;
}

type Chunk = Parameters<typeof duckdb.data_chunk_get_vector>[0];

function columnsOf(chunk: Chunk, rows: number): RowColumns {
  const raw = (column: number, itemBytes: number): Uint8Array =>
    duckdb.vector_get_data(duckdb.data_chunk_get_vector(chunk, column), rows * itemBytes);
  const int32 = (bytes: Uint8Array): Int32Array => new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const words = (bytes: Uint8Array): Uint32Array =>
    new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const blobs = raw(6, 16);
  const lengths = words(blobs);
  const data: Uint8Array[] = [];
  for (let row = 0; row < rows; row++) {
    const length = lengths[row * 4] as number;
    // DuckDB keeps up to twelve bytes in place, longer ones behind a pointer.
    data.push(
      length <= 12
        ? blobs.subarray(row * 16 + 4, row * 16 + 4 + length)
        : duckdb.get_data_from_pointer(blobs.buffer as ArrayBuffer, blobs.byteOffset + row * 16 + 8, length),
    );
  }
  return {
    rows,
    series: int32(raw(0, 4)),
    captureDay: int32(raw(1, 4)),
    times: [words(raw(2, 8)), words(raw(3, 8)), words(raw(4, 8))],
    missingTimes: raw(5, 1),
    data,
  };
}

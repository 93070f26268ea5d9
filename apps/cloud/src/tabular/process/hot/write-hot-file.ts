/** Writes the rows of a tail into a hot file, in slices. */
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DOUBLE,
  type DuckDBAppender,
  type DuckDBConnection,
  DuckDBDataChunk,
  type DuckDBType,
  INTEGER,
  UTINYINT,
  VARCHAR,
} from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { newId } from '@platform/base';
import { dayText } from '../capture-day.ts';
import { quoted } from '../database.ts';
import { noTime, type RowBuffer } from '../row-buffer.ts';
import { rowGroupRows } from '../row-group.ts';
import { chunkRows } from '../shred/column-buffers.ts';
import { type Documents, type ShreddedSlices, shredSlices } from '../shred/shred-slices.ts';
import { createSlice } from '../slice.ts';
import { type HotFile, stampOf } from './hot-file.ts';
import { seriesFactsOf } from './series-facts.ts';
import { type SortedRows, sortRows, words } from './sort-rows.ts';
import type { Tail } from './tail.ts';

/** Light compression: the file is written again when it is sealed. */
export const hotFormat = 'FORMAT parquet, PARQUET_VERSION V2, COMPRESSION lz4';

/** @param directory parquet/.hot. @returns the file; its note is the caller's to write. */
export async function writeHotFile(connection: DuckDBConnection, tail: Tail, directory: string): Promise<HotFile> {
  const { rows } = tail;
  await mkdir(directory, { recursive: true });
  const sorted = sortRows(rows, tail.series);
  const slices = sliceRanges(sorted);
  const documents = documentsOf(rows, sorted);
  const shredded = await shredSlices(documents, slices);
  const name = `${tail.from}-${tail.to}-${newId()}`;
  const path = join(directory, `${name}.parquet`);
  const table = `hot_${newId().replaceAll('-', '')}`;
  const { columns } = shredded.buffers;
  const leafColumns = columns.map((column) => `, ${column.name} ${column.type}`).join('');
  await connection.run(`CREATE TABLE ${table} (${fixedColumns}${leafColumns}, data BLOB NOT NULL)`);
  try {
    const appender = await connection.createAppender(table);
    try {
      await append(appender, rows, sorted, documents, shredded);
    } finally {
      appender.closeSync();
    }
    const times = ['time_requested', 'time_received', 'time_synced'].map(
      (time) => `nullif(${time}, ${noTime}) AS ${time}`,
    );
    const names = columns.map((column) => `${column.name}, `).join('');
    await connection.run(
      `COPY (SELECT position, "index", series, ${times.join(', ')}, size, ${names}data FROM ${table})
        TO ${quoted(`${path}.tmp`)} (${hotFormat}, ROW_GROUP_SIZE ${rowGroupRows})`,
    );
    await rename(`${path}.tmp`, path);
  } catch (caught) {
    await rm(`${path}.tmp`, { force: true });
    throw caught;
  } finally {
    await connection.run(`DROP TABLE ${table}`);
  }
  const stamp = await stampOf(path);
  if (stamp === undefined) throw new Error('a hot file is gone right after it was written');
  const series = seriesFactsOf(rows, sorted);
  return {
    path,
    from: tail.from,
    to: tail.to,
    rows: rows.rows,
    dataBytes: rows.dataBytes,
    slices: slices.map(({ captureDay, first, end }, i) =>
      createSlice(
        { path, captureDay, first, series: series.slice(first, end), leaves: shredded.leaves[i] ?? [] },
        series.length,
      ),
    ),
    stamp,
  };
}

const fixedColumns = `position BIGINT NOT NULL, "index" INTEGER NOT NULL, series INTEGER NOT NULL,
  time_requested BIGINT NOT NULL, time_received BIGINT NOT NULL, time_synced BIGINT NOT NULL, size INTEGER NOT NULL`;

interface SliceRange {
  readonly captureDay: string;
  readonly first: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** Series of one organization and day stand together. */
function sliceRanges({ series }: SortedRows): SliceRange[] {
  const ranges: SliceRange[] = [];
  for (let first = 0; first < series.length; ) {
    const { series: own, day, from } = series[first] as SortedRows['series'][number];
    const organizationId = own.path.organization_id;
    let end = first + 1;
    for (; end < series.length; end++) {
      const next = series[end] as SortedRows['series'][number];
      if (next.day !== day || next.series.path.organization_id !== organizationId) break;
    }
    const { to } = series[end - 1] as SortedRows['series'][number];
    ranges.push({ captureDay: dayText(day), first, end, from, to });
    first = end;
  }
  return ranges;
}

function documentsOf({ data, dataBytes }: RowBuffer, { order }: SortedRows): Documents {
  const bytes = new Uint8Array(dataBytes);
  const ends = new Uint32Array(order.length);
  let at = 0;
  for (let place = 0; place < order.length; place++) {
    const document = data[order[place] as number] as Uint8Array;
    bytes.set(document, at);
    at += document.length;
    ends[place] = at;
  }
  return { bytes, ends };
}

const typeOf = { DOUBLE, VARCHAR, BOOLEAN, UTINYINT } as const;
/** Chunks between two pauses; what is appended goes out to the table then, too. */
const chunksAtOnce = 2;

async function append(
  appender: DuckDBAppender,
  rows: RowBuffer,
  { order, series }: SortedRows,
  { bytes, ends }: Documents,
  { buffers, fill }: ShreddedSlices,
): Promise<void> {
  const { columns } = buffers;
  const types: DuckDBType[] = [BIGINT, INTEGER, INTEGER, BIGINT, BIGINT, BIGINT, INTEGER];
  const allTypes = [...types, ...columns.map(({ type }) => typeOf[type]), BLOB];
  const wide = [rows.position, rows.timeRequested, rows.timeReceived, rows.timeSynced].map((column) => ({
    source: words(column),
    target: new Int32Array(chunkRows * 2),
  }));
  const [index, numbers, sizes] = [new Int32Array(chunkRows), new Int32Array(chunkRows), new Int32Array(chunkRows)];
  let number = 0;
  let appended = 0;
  for (let from = 0; from < order.length; from += chunkRows) {
    const count = Math.min(chunkRows, order.length - from);
    for (let i = 0; i < count; i++) {
      const place = from + i;
      const row = order[place] as number;
      for (const { source, target } of wide) {
        target[i * 2] = source[row * 2] as number;
        target[i * 2 + 1] = source[row * 2 + 1] as number;
      }
      index[i] = rows.index[row] as number;
      while ((series[number] as SortedRows['series'][number]).to <= place) number++;
      numbers[i] = number;
      sizes[i] = (ends[place] as number) - (place === 0 ? 0 : (ends[place - 1] as number));
    }
    fill(from, from + count);
    const chunk = DuckDBDataChunk.create(allTypes, count);
    const vectorOf = (column: number): Vector => duckdb.data_chunk_get_vector(chunk.chunk, column);
    const copy = (column: number, values: Int32Array | undefined, cellBytes: number): void =>
      duckdb.copy_data_to_vector(vectorOf(column), 0, values?.buffer as ArrayBuffer, 0, count * cellBytes);
    const [position, ...times] = wide.map(({ target }) => target);
    copy(0, position, 8);
    copy(1, index, 4);
    copy(2, numbers, 4);
    for (const [i, time] of times.entries()) copy(3 + i, time, 8);
    copy(6, sizes, 4);
    for (const [i, { used, cells, validity, long }] of columns.entries()) {
      const vector = vectorOf(types.length + i);
      if (used) {
        const cellBytes = (cells.length / chunkRows) * count;
        duckdb.copy_data_to_vector(vector, 0, cells.buffer as ArrayBuffer, cells.byteOffset, cellBytes);
        for (const { row, text } of long) duckdb.vector_assign_string_element_len(vector, row, text);
      }
      duckdb.vector_ensure_validity_writable(vector);
      const validBytes = Math.ceil(count / 64) * 8;
      duckdb.copy_data_to_vector_validity(vector, 0, validity.buffer as ArrayBuffer, validity.byteOffset, validBytes);
    }
    const data = vectorOf(types.length + columns.length);
    for (let i = 0; i < count; i++) {
      const end = ends[from + i] as number;
      duckdb.vector_assign_string_element_len(data, i, bytes.subarray(end - (sizes[i] as number), end));
    }
    appender.appendDataChunk(chunk);
    buffers.clear();
    if (++appended % chunksAtOnce !== 0) continue;
    appender.flushSync();
    await new Promise((resolve) => setImmediate(resolve));
  }
  appender.flushSync();
}

type Vector = ReturnType<typeof duckdb.data_chunk_get_vector>;

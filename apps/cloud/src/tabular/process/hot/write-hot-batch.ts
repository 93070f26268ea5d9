/** Writes the rows of a tail into a hot batch, in slices. */
import { mkdir, rm } from 'node:fs/promises';
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
import { dayText } from '../../../reading-codec/capture-day.ts';
import { rowGroupRows } from '../files/row-group.ts';
import { createSlice } from '../files/slice.ts';
import type { RowBuffer } from '../rows/row-buffer.ts';
import { chunkRows, hotLeafColumns } from '../shred/column-buffers.ts';
import { type Documents, type ShreddedSlices, shredSlices } from '../shred/shred-slices.ts';
import { copyHotFile, selectedTimes } from './copy-hot-file.ts';
import { type HotBatch, type HotFile, needsOwnFile, newBatchNames } from './hot-batch.ts';
import { seriesFactsOf } from './series-facts.ts';
import { type SortedRows, sortRows, words } from './sort-rows.ts';
import type { Tail } from './tail.ts';

/** @param directory parquet/.hot @returns the batch; the caller writes its note */
export async function writeHotBatch(connection: DuckDBConnection, tail: Tail, directory: string): Promise<HotBatch> {
  const { rows, series } = tail;
  await mkdir(directory, { recursive: true });
  const sorted = sortRows(rows, series);
  const documents = documentsOf(rows, sorted);
  try {
    return await writeSorted(connection, tail, sorted, documents, directory);
  } finally {
    giveBack(documents);
  }
}

async function writeSorted(
  connection: DuckDBConnection,
  { rows, from, to }: Tail,
  sorted: SortedRows,
  documents: Documents,
  directory: string,
): Promise<HotBatch> {
  const ranges = sliceRanges(sorted);
  const shredded = await shredSlices(documents, ranges);
  const table = `hot_${newId().replaceAll('-', '')}`;
  const leafColumns = shredded.buffers.columns.map((column) => `, ${column.name} ${column.type}`).join('');
  const places = placesOf(ranges, documents, sorted.series.length);
  const names = newBatchNames(directory, from, to);
  const files: HotFile[] = [];
  await connection.run(`CREATE TABLE ${table} (${fixedColumns}${leafColumns}, data BLOB NOT NULL)`);
  try {
    const appender = await connection.createAppender(table);
    try {
      await append(appender, rows, sorted, documents, shredded, places);
    } finally {
      appender.closeSync();
    }
    for (let file = 0; file < places.files; file++) {
      const own = ranges.flatMap((_, slice) => (places.fileOf[slice] === file ? (shredded.leaves[slice] ?? []) : []));
      const columns = [...new Set(own.flatMap((leaf) => Object.values(hotLeafColumns(leaf))))];
      const select = `SELECT ${['position', '"index"', 'series', ...selectedTimes, 'size', ...columns, 'data'].join(', ')}
        FROM ${table} ${places.files === 1 ? '' : `WHERE file = ${file}`}`;
      files.push(await copyHotFile(connection, names.file(file), select, rowGroupRows));
    }
  } catch (caught) {
    for (const { path } of files) await rm(path, { force: true });
    throw caught;
  } finally {
    await connection.run(`DROP TABLE ${table}`);
  }
  const series = seriesFactsOf(rows, sorted);
  const slices = ranges.map(({ captureDay, first, end }, slice) => {
    const file = places.fileOf[slice] as number;
    return createSlice(
      {
        path: names.file(file),
        captureDay,
        first: places.numberOf[first] as number,
        series: series.slice(first, end),
        leaves: shredded.leaves[slice] ?? [],
      },
      places.seriesOf[file] as number,
    );
  });
  return { from, to, rows: rows.rows, dataBytes: rows.dataBytes, files, slices, notePath: names.note };
}

/** Assigns slices to files, and numbers to the series in each file. */
interface Places {
  readonly files: number;
  /** Indexed by slice. */
  readonly fileOf: readonly number[];
  /** Indexed by series: its number in its file. */
  readonly numberOf: Int32Array;
  readonly fileOfSeries: Uint8Array;
  /** Indexed by file: how many series it has. */
  readonly seriesOf: readonly number[];
}

function placesOf(ranges: readonly SliceRange[], { ends }: Documents, series: number): Places {
  const startOf = (place: number): number => (place === 0 ? 0 : (ends[place - 1] as number));
  const isOwn = ranges.map(({ from, to }) => needsOwnFile({ rows: to - from, dataBytes: startOf(to) - startOf(from) }));
  const owned = isOwn.filter(Boolean).length;
  const seriesOf = new Array<number>(owned + (owned < ranges.length ? 1 : 0)).fill(0);
  let next = 0;
  const fileOf = isOwn.map((own) => (own ? next++ : owned));
  const [numberOf, fileOfSeries] = [new Int32Array(series), new Uint8Array(series)];
  for (const [slice, { first, end }] of ranges.entries()) {
    const file = fileOf[slice] as number;
    for (let each = first; each < end; each++) {
      numberOf[each] = (seriesOf[file] as number)++;
      fileOfSeries[each] = file;
    }
  }
  return { files: seriesOf.length, fileOf, numberOf, fileOfSeries, seriesOf };
}

const fixedColumns = `file UTINYINT NOT NULL, position BIGINT NOT NULL, "index" INTEGER NOT NULL, series INTEGER NOT NULL,
  time_requested BIGINT NOT NULL, time_received BIGINT NOT NULL, time_synced BIGINT NOT NULL, size INTEGER NOT NULL`;

interface SliceRange {
  readonly captureDay: string;
  readonly first: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** The series of one organization and day are adjacent. */
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

/** Buffer of the last batch's documents, reused because batches are mostly written one after another. */
let spare: Uint8Array | undefined;
const mostSpareBytes = 16 << 20;

function takeBytes(length: number): Uint8Array {
  const taken = spare !== undefined && spare.length >= length ? spare : new Uint8Array(length);
  if (taken === spare) spare = undefined;
  return taken;
}

function giveBack({ bytes }: Documents): void {
  if (bytes.length <= mostSpareBytes && bytes.length > (spare?.length ?? 0)) spare = bytes;
}

function documentsOf({ data, dataBytes }: RowBuffer, { order }: SortedRows): Documents {
  const bytes = takeBytes(dataBytes);
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
/** Chunks between two pauses; each pause flushes the appended rows to the table. */
const chunksAtOnce = 2;

async function append(
  appender: DuckDBAppender,
  rows: RowBuffer,
  { order, series }: SortedRows,
  { bytes, ends }: Documents,
  { buffers, fill }: ShreddedSlices,
  { numberOf, fileOfSeries }: Places,
): Promise<void> {
  const { columns } = buffers;
  const types: DuckDBType[] = [UTINYINT, BIGINT, INTEGER, INTEGER, BIGINT, BIGINT, BIGINT, INTEGER];
  const allTypes = [...types, ...columns.map(({ type }) => typeOf[type]), BLOB];
  const wide = [rows.position, rows.timeRequested, rows.timeReceived, rows.timeSynced].map((column) => ({
    source: words(column),
    target: new Int32Array(chunkRows * 2),
  }));
  const [index, numbers, sizes] = [new Int32Array(chunkRows), new Int32Array(chunkRows), new Int32Array(chunkRows)];
  const files = new Uint8Array(chunkRows);
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
      numbers[i] = numberOf[number] as number;
      files[i] = fileOfSeries[number] as number;
      sizes[i] = (ends[place] as number) - (place === 0 ? 0 : (ends[place - 1] as number));
    }
    fill(from, from + count);
    const chunk = DuckDBDataChunk.create(allTypes, count);
    const vectorOf = (column: number): Vector => duckdb.data_chunk_get_vector(chunk.chunk, column);
    const copy = (column: number, values: Int32Array | Uint8Array | undefined, cellBytes: number): void =>
      duckdb.copy_data_to_vector(vectorOf(column), 0, values?.buffer as ArrayBuffer, 0, count * cellBytes);
    const [position, ...times] = wide.map(({ target }) => target);
    copy(0, files, 1);
    copy(1, position, 8);
    copy(2, index, 4);
    copy(3, numbers, 4);
    for (const [i, time] of times.entries()) copy(4 + i, time, 8);
    copy(7, sizes, 4);
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

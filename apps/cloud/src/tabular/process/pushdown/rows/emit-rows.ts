/** Rows of a file for the executor: rebuilt from columns if possible, otherwise as they were written. */
import { type Batch, timeColumns } from '@platform/query';
import { dayNumber } from '../../../../reading-codec/capture-day.ts';
import type { FileFacts } from '../../files/file-facts.ts';
import { noTime } from '../../rows/row-buffer.ts';
import { rowDocuments } from '../../rows/row-documents.ts';
import { checkScope, haveSameScope } from '../check-scope.ts';
import { and, type Binds, onlyUsed, type Sql } from '../conditions/sql.ts';
import { millisecondsSql } from '../conditions/times.ts';
import type { OpenFile } from '../open-files.ts';
import type { Emission } from '../statement.ts';
import type { Chunk } from './chunk.ts';
import type { ProjectedRows } from './project-rows.ts';
import { RowCells } from './row-cells.ts';
import { type Part, shapeParts } from './row-parts.ts';
import type { RowShape } from './row-shape.ts';
import { rowWriter } from './write-rows.ts';

export interface RowsOptions {
  readonly where: readonly Sql[];
  readonly binds: Binds;
  readonly vocabulary: 'core' | 'rdk';
  /** Facts of the file, when rows are gathered. */
  readonly gathered?: FileFacts;
  /** ORDER BY … LIMIT …: the rows have passed through `pre`. Default: none, in the order of the file. */
  readonly top?: string;
  /** SQL joined to the rows to select few of them. */
  readonly among?: Sql;
  /** Whole rows show times as microseconds. Default: dates. */
  readonly exactTimes?: boolean;
}

/** Rows with the columns that the executor reads. */
export function emitColumns(shape: RowShape, options: RowsOptions): Emission {
  const cells = new RowCells();
  const parts = shapeParts(shape, cells);
  return { ...emitParts(parts, cells, options), variant: JSON.stringify(shape.data ?? null) };
}

/** @param check called with each large row; throws where the executor would have refused it */
export function emitProjected(
  { parts, variant }: ProjectedRows,
  cells: RowCells,
  options: RowsOptions,
  check: ((document: Uint8Array) => void) | undefined,
): Emission {
  return { ...emitParts(parts, cells, options, check), variant: `projected ${variant}`, done: true };
}

function emitParts(
  parts: readonly Part[],
  cells: RowCells,
  { where, binds, gathered, top, among }: RowsOptions,
  check?: (document: Uint8Array) => void,
): Omit<Emission, 'variant'> {
  // A value that is constant within a series may differ in another file.
  const isOfRows = parts.every(({ k }) => k !== 'series');
  const isWhole = cells.sql.includes('data');
  const bytes = gathered && (isWhole ? bytesOf(gathered) : gathered.rows * cells.sql.length * cellBytes);
  return {
    kind: top !== undefined ? 'top' : isWhole ? 'rows' : 'columns',
    ...onlyUsed(selecting(cells.sql, where, top, among), binds.values),
    ...(top === undefined &&
      among === undefined &&
      (bytes === undefined ? { columns: cells.sql.length } : { gathered: bytes })),
    ...(isWhole && { documents: cells.sql.indexOf('data') }),
    done: top !== undefined,
    isOfNumber: (files) => isOfRows && haveSameScope(files),
    decode: rowWriter(parts, check),
  };
}

/** Bytes of a column, with a text of typical length. */
const cellBytes = 24;

function bytesOf({ rows, series }: FileFacts): number {
  return series.reduce((sum, { dataBytes }) => sum + dataBytes, 0) + rows * 48;
}

function selecting(columns: readonly string[], where: readonly Sql[], top = '', among?: Sql): string {
  const [joined, order] = among === undefined ? ['', top] : [` ${among}`, 'ORDER BY file_index, file_row_number'];
  return `SELECT ${columns.join(', ')} FROM read_parquet($1)${joined} WHERE ${and(where)} ${order}`;
}

export function emitRows({
  where,
  binds,
  vocabulary,
  gathered,
  top,
  among,
  exactTimes = false,
}: RowsOptions): Emission {
  const columns = timeColumns.map((time) => `coalesce(${time}, ${noTime})`).map(exactTimes ? String : millisecondsSql);
  const missing = timeColumns.map((time, bit) => `CASE WHEN ${time} IS NULL THEN ${1 << bit} ELSE 0 END`);
  const bits = `CAST(${missing.join(' + ')} AS UTINYINT)`;
  const selected = ['CAST(file_index AS INTEGER)', 'series', ...columns, bits, 'data'];
  return {
    kind: top === undefined ? 'rows' : 'top',
    variant: '',
    ...onlyUsed(selecting(selected, where, top, among), binds.values),
    ...(top === undefined &&
      among === undefined &&
      (gathered ? { gathered: bytesOf(gathered) } : { columns: selected.length })),
    documents: selected.indexOf('data'),
    done: top !== undefined,
    decode: (files) => wholeRows(files, vocabulary, exactTimes),
  };
}

function wholeRows(
  files: readonly OpenFile[],
  vocabulary: 'core' | 'rdk',
  exactTimes: boolean,
): (chunk: Chunk) => Batch {
  const firsts: number[] = [];
  let count = 0;
  for (const file of files) {
    firsts.push(count);
    count += file.facts.series.length;
  }
  const encode = rowDocuments(
    files.flatMap(({ facts }) => facts.series),
    vocabulary,
    undefined,
    exactTimes,
  );
  const days = files.map(({ captureDay }) => dayNumber(captureDay));
  return (chunk) => {
    checkScope(chunk, files);
    const [file, number] = [chunk.int32(0), chunk.int32(1)];
    const [series, captureDay] = [new Int32Array(chunk.rows), new Int32Array(chunk.rows)];
    for (let row = 0; row < chunk.rows; row++) {
      const [index, own] = [file[row] as number, number[row] as number];
      series[row] = (firsts[index] as number) + own;
      captureDay[row] = days[index] as number;
    }
    const dataOf = chunk.blob(6);
    return encode({
      rows: chunk.rows,
      series,
      captureDay,
      times: [chunk.words(2), chunk.words(3), chunk.words(4)],
      missingTimes: chunk.bytes(5),
      data: Array.from({ length: chunk.rows }, (_, row) => dataOf(row)),
    });
  };
}

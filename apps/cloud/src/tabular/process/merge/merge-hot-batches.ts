/** Merges several small adjacent hot batches into one, so that a query opens tens of files instead of hundreds. */

import { rm } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { timeColumns } from '@platform/query';
import { averageBytes, createSlice, dataBytesOf, rowsOf, type Slice, slicesByDay } from '../files/slice.ts';
import { copyHotFile, selectedTimes } from '../hot/copy-hot-file.ts';
import { type HotBatch, type HotFile, needsOwnFile, newBatchNames } from '../hot/hot-batch.ts';
import { mergeSource } from './merge-source.ts';
import { describeRows } from './series-of-rows.ts';

/** @param batches adjacent, in order @param rowGroup rows of a row group, for documents of an average size */
export async function mergeHotBatches(
  connection: DuckDBConnection,
  batches: readonly HotBatch[],
  directory: string,
  rowGroup: (averageBytes: number) => number,
): Promise<HotBatch> {
  const [{ from } = { from: 0 }, { to } = { to: 0 }] = [batches[0], batches.at(-1)];
  const names = newBatchNames(directory, from, to);
  const files: HotFile[] = [];
  const slices: Slice[] = [];
  try {
    for (const [index, own] of filesOf(batches.flatMap((batch) => batch.slices)).entries()) {
      const path = names.file(index);
      const merged = await mergeSlices(connection, own, path, rowGroup(averageBytes(own)));
      slices.push(...merged.slices);
      files.push(merged.file);
    }
  } catch (caught) {
    for (const { path } of files) await rm(path, { force: true });
    throw caught;
  }
  return {
    from,
    to,
    rows: rowsOf(slices),
    dataBytes: batches.reduce((sum, { dataBytes }) => sum + dataBytes, 0),
    files,
    slices,
    notePath: names.note,
  };
}

/** Assigns slices to files. */
function filesOf(slices: readonly Slice[]): Slice[][] {
  const days = slicesByDay(slices);
  const isOwn = days.map((own) => needsOwnFile({ rows: rowsOf(own), dataBytes: dataBytesOf(own) }));
  const shared = days.filter((_, i) => !isOwn[i]).flat();
  return [...days.filter((_, i) => isOwn[i]), ...(shared.length > 0 ? [shared] : [])];
}

async function mergeSlices(
  connection: DuckDBConnection,
  slices: readonly Slice[],
  path: string,
  rowGroup: number,
): Promise<{ readonly file: HotFile; readonly slices: readonly Slice[] }> {
  const source = mergeSource(slices, true);
  const { series, rows, numbers } = await describeRows(connection, source, undefined);
  if (rows !== source.rows || numbers.length !== source.series.length)
    throw new Error(`expected ${source.rows} rows in hot files, found ${rows}`);
  const columns = ['position', '"index"', ...timeColumns, 'size', ...source.columns, 'data'];
  const select = `SELECT ${['position', '"index"', 'number AS series', ...selectedTimes, 'size', ...source.columns, 'data'].join(', ')}
    FROM (${source.select(columns)} ORDER BY number, time_received, position, "index")`;
  const file = await copyHotFile(connection, path, select, rowGroup);
  const merged = source.slices.map(({ captureDay, first, end, leaves }) =>
    createSlice(
      { path, captureDay, first, series: series.slice(first, end), leaves: leaves.map(({ of: _, ...facts }) => facts) },
      series.length,
    ),
  );
  return { file, slices: merged };
}

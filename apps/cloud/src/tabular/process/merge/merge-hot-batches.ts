/** Writes several small hot batches that follow each other into one, so that a query opens tens of files instead of hundreds. */
import { rename, rm } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoted } from '../database.ts';
import { type HotBatch, type HotFile, needsOwnFile, newBatchNames, writtenFile } from '../hot/hot-batch.ts';
import { hotFormat } from '../hot/write-hot-batch.ts';
import { noTime } from '../row-buffer.ts';
import { rowsOfGroup } from '../row-group.ts';
import { averageBytes, createSlice, type Slice, slicesByDay } from '../slice.ts';
import { mergeSource } from './merge-source.ts';
import { describeRows } from './series-of-rows.ts';

/** @param batches adjacent, in order. @param rowGroup rows of a row group. */
export async function mergeHotBatches(
  connection: DuckDBConnection,
  batches: readonly HotBatch[],
  directory: string,
  rowGroup?: number,
): Promise<HotBatch> {
  const [{ from } = { from: 0 }, { to } = { to: 0 }] = [batches[0], batches.at(-1)];
  const names = newBatchNames(directory, from, to);
  const files: HotFile[] = [];
  const slices: Slice[] = [];
  try {
    for (const [index, own] of filesOf(batches.flatMap((batch) => batch.slices)).entries()) {
      const path = names.file(index);
      slices.push(...(await mergeSlices(connection, own, path, rowGroup ?? rowsOfGroup(averageBytes(own)))));
      files.push(await writtenFile(path));
    }
  } catch (caught) {
    for (const { path } of files) await rm(path, { force: true });
    throw caught;
  }
  return {
    from,
    to,
    rows: slices.reduce((sum, { rows }) => sum + rows, 0),
    dataBytes: batches.reduce((sum, { dataBytes }) => sum + dataBytes, 0),
    files,
    slices,
    notePath: names.note,
  };
}

/** Which slices go into which file. */
function filesOf(slices: readonly Slice[]): Slice[][] {
  const days = slicesByDay(slices);
  const isOwn = days.map((own) => {
    const series = own.flatMap((slice) => slice.series);
    return needsOwnFile({
      rows: series.reduce((sum, { rows }) => sum + rows, 0),
      dataBytes: series.reduce((sum, { dataBytes }) => sum + dataBytes, 0),
    });
  });
  const shared = days.filter((_, i) => !isOwn[i]).flat();
  return [...days.filter((_, i) => isOwn[i]), ...(shared.length > 0 ? [shared] : [])];
}

/** @returns the slices of the file. */
async function mergeSlices(
  connection: DuckDBConnection,
  slices: readonly Slice[],
  path: string,
  rowGroup: number,
): Promise<Slice[]> {
  const source = mergeSource(slices, true);
  const { series, rows, numbers } = await describeRows(connection, source, undefined);
  if (rows !== source.rows || numbers.length !== source.series.length)
    throw new Error(`expected ${source.rows} rows in hot files, found ${rows}`);
  const times = ['time_requested', 'time_received', 'time_synced'];
  const columns = ['position', '"index"', ...times, 'size', ...source.columns, 'data'];
  try {
    await connection.run(
      `COPY (SELECT position, "index", number AS series, ${times.map((time) => `nullif(${time}, ${noTime}) AS ${time}`).join(', ')},
          size, ${source.columns.map((column) => `${column}, `).join('')}data
        FROM (${source.select(columns)} ORDER BY number, time_received, position, "index"))
        TO ${quoted(`${path}.tmp`)} (${hotFormat}, ROW_GROUP_SIZE ${rowGroup})`,
    );
    await rename(`${path}.tmp`, path);
  } catch (caught) {
    await rm(`${path}.tmp`, { force: true });
    throw caught;
  }
  return source.slices.map(({ captureDay, first, end, leaves }) =>
    createSlice(
      { path, captureDay, first, series: series.slice(first, end), leaves: leaves.map(({ of: _, ...facts }) => facts) },
      series.length,
    ),
  );
}

/** Writes several small hot files that follow each other into one, so that a query opens tens of files instead of hundreds. */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { newId } from '@platform/base';
import { quoted } from '../database.ts';
import { type HotFile, stampOf } from '../hot/hot-file.ts';
import { hotFormat } from '../hot/write-hot-file.ts';
import { noTime } from '../row-buffer.ts';
import { rowGroupRows } from '../row-group.ts';
import { createSlice } from '../slice.ts';
import { mergeSource } from './merge-source.ts';
import { describeRows } from './series-of-rows.ts';

/** @param files adjacent, in order. @param rowGroup rows of a row group. */
export async function mergeHotFiles(
  connection: DuckDBConnection,
  files: readonly HotFile[],
  directory: string,
  rowGroup: number = rowGroupRows,
): Promise<HotFile> {
  const [{ from } = { from: 0 }, { to } = { to: 0 }] = [files[0], files.at(-1)];
  const source = mergeSource(
    files.flatMap(({ slices }) => slices),
    true,
  );
  const { series, rows, numbers } = await describeRows(connection, source, undefined);
  if (rows !== source.rows || numbers.length !== source.series.length)
    throw new Error(`expected ${source.rows} rows in hot files of positions ${from} to ${to}, found ${rows}`);
  const path = join(directory, `${from}-${to}-${newId()}.parquet`);
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
  const stamp = await stampOf(path);
  if (stamp === undefined) throw new Error('a hot file is gone right after it was written');
  return {
    path,
    from,
    to,
    rows,
    dataBytes: files.reduce((sum, { dataBytes }) => sum + dataBytes, 0),
    slices: source.slices.map(({ captureDay, first, end, leaves }) =>
      createSlice(
        {
          path,
          captureDay,
          first,
          series: series.slice(first, end),
          leaves: leaves.map(({ of: _, ...facts }) => facts),
        },
        series.length,
      ),
    ),
    stamp,
  };
}

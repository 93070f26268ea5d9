/** Writes what a statement selects into a hot file. */
import { rename, rm } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { quoted } from '../duckdb/database.ts';
import { noTime } from '../rows/row-buffer.ts';
import { type HotFile, stampOf } from './hot-batch.ts';

/** A time of a hot file, of one that is noTime where it is missing. */
export const selectedTimes: readonly string[] = ['time_requested', 'time_received', 'time_synced'].map(
  (time) => `nullif(${time}, ${noTime}) AS ${time}`,
);

/** Light compression: a file is written again when it is sealed. Leaves nothing behind when it fails. */
export async function copyHotFile(
  connection: DuckDBConnection,
  path: string,
  select: string,
  rowGroup: number,
): Promise<HotFile> {
  try {
    await connection.run(
      `COPY (${select}) TO ${quoted(`${path}.tmp`)} (FORMAT parquet, PARQUET_VERSION V2, COMPRESSION lz4, ROW_GROUP_SIZE ${rowGroup})`,
    );
    await rename(`${path}.tmp`, path);
  } catch (caught) {
    await rm(`${path}.tmp`, { force: true });
    throw caught;
  }
  const stamp = stampOf(path);
  if (stamp === undefined) throw new Error('a hot file disappeared right after it was written');
  return { path, stamp };
}

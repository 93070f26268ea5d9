/** Writes the result of a statement to a hot file. */

import { rename, rm } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { timeColumns } from '@platform/query';
import { quoted } from '../duckdb/database.ts';
import { noTime } from '../rows/row-buffer.ts';
import { type HotFile, stampOf } from './hot-batch.ts';

/** Time columns of a hot file, selected from a source that stores a missing time as noTime. */
export const selectedTimes: readonly string[] = timeColumns.map((time) => `nullif(${time}, ${noTime}) AS ${time}`);

/** Uses light compression, because a file is rewritten when it is sealed. Leaves nothing behind when it fails. */
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

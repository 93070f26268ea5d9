/**
 * Writes the rows of slices of one organization and capture day to sealed files (I9): one, or several if one would be too large.
 *
 * Each file is written under a temporary name, synced, read back and renamed. Files are not part of the store until the catalog lists them;
 * a start removes unlisted ones.
 */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { newId } from '@platform/base';
import { syncPath } from '../../../instance/sync-path.ts';
import { readRows } from '../duckdb/database.ts';
import { checksumFile } from '../files/checksum-file.ts';
import { writeParquet } from '../files/parquet-file.ts';
import { readSealedFile } from '../files/sealed-file.ts';
import type { Slice } from '../files/slice.ts';
import type { SealedFile } from '../messages.ts';
import { type MergeSource, mergeSource, rowColumns } from './merge-source.ts';
import { describeRows } from './series-of-rows.ts';
import { splitConditions } from './split-by-size.ts';

export interface SealOptions {
  readonly parquetDir: string;
  /** Maximum BSON bytes in one file. */
  readonly fileBytes: number;
  /** … and in one row group. */
  readonly rowGroupBytes: number;
}

export interface WriteOptions extends SealOptions {
  /** Condition for rows to omit, on `number` and the files' columns of the merged series. Default: none. */
  readonly removed?: (source: MergeSource) => string | undefined;
}

/** @returns the files, and how many rows were omitted. Throws, and leaves nothing behind, unless all other rows were written. */
export async function writeSealedFiles(
  connection: DuckDBConnection,
  slices: readonly Slice[],
  options: WriteOptions,
): Promise<{ readonly files: SealedFile[]; readonly removed: number }> {
  const source = mergeSource(slices, false);
  const removedRows = options.removed?.(source);
  if (options.removed !== undefined && removedRows === undefined) return { files: [], removed: 0 };
  const removed = removedRows === undefined ? 0 : await countRows(connection, source, removedRows);
  const kept = removedRows === undefined ? undefined : `NOT (${removedRows})`;
  const written: string[] = [];
  const files: SealedFile[] = [];
  try {
    if (removedRows === undefined || (removed > 0 && removed < source.rows))
      for (const piece of await splitConditions(connection, source, slices, options.fileBytes, kept)) {
        const file = await writeFile(connection, source, slices[0]?.captureDay as string, piece, options, written);
        files.push(file);
      }
    const rows = files.reduce((sum, file) => sum + file.rows, 0);
    if (files.length > 0 && rows + removed !== source.rows)
      throw new Error(`expected ${source.rows - removed} rows to be written, found ${rows}; nothing is listed`);
    await syncPath(options.parquetDir);
    return { files, removed };
  } catch (caught) {
    // Repeated attempts must not fill a full disk further.
    for (const path of written) await rm(path, { force: true });
    throw caught;
  }
}

async function countRows(connection: DuckDBConnection, source: MergeSource, condition: string): Promise<number> {
  const [row] = await readRows(connection, `SELECT count(*) FROM (${source.select(['position'], condition)})`);
  return Number(row?.[0]);
}

async function writeFile(
  connection: DuckDBConnection,
  source: MergeSource,
  captureDay: string,
  kept: string | undefined,
  { parquetDir, rowGroupBytes }: SealOptions,
  written: string[],
): Promise<SealedFile> {
  const described = await describeRows(connection, source, kept);
  const file = `${captureDay}-${newId()}.parquet`;
  const [path, temporary] = [join(parquetDir, file), join(parquetDir, `${file}.tmp`)];
  written.push(temporary, path);
  const leaves = (source.slices[0]?.leaves ?? []).map(({ of: _, ...facts }) => facts);
  const rows = source.select([...rowColumns, ...source.columns], kept);
  const contents = { ...described, rows, captureDay, leaves, columns: source.columns, rowGroupBytes };
  await writeParquet(connection, temporary, contents);
  await syncPath(temporary);
  const listed = await readSealedFile(connection, temporary, contents);
  const { bytes: fileBytes, ...checksum } = await checksumFile(temporary);
  await rename(temporary, path);
  return { ...listed, file, fileBytes, checksum };
}

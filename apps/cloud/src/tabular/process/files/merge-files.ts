/**
 * Rewrites the rows of files of one organization and day: merges many small files, so that a query opens tens of files a day instead of
 * hundreds, and removes deleted rows from the disk. The input files stay. Rows keep their position and index, so the switch changes nothing
 * else.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { legacyParquetFormat } from '../../catalog/parquet-format.ts';
import type { Delete } from '../../catalog/row-filter.ts';
import type { Database } from '../duckdb/database.ts';
import type { Writer } from '../duckdb/writer.ts';
import { filePaths } from '../hot/hot-batch.ts';
import type { TailLimits } from '../hot/tail.ts';
import { excludeDeleted } from '../merge/exclude-deleted.ts';
import { writeSealedFiles } from '../merge/write-sealed-files.ts';
import type { FileRef, Rewritten } from '../messages.ts';
import { readFacts } from './file-facts.ts';
import { readLegacyFile } from './legacy-file.ts';
import type { SealHotOptions } from './seal-files.ts';
import { type Slice, wholeFile } from './slice.ts';

export interface MergeOptions extends SealHotOptions {
  readonly database: Database;
  readonly writer: Writer;
  /** When a file with the rows of an earlier format is full. */
  readonly limits: TailLimits;
}

export async function mergeFiles(
  connection: DuckDBConnection,
  files: readonly FileRef[],
  deletes: readonly Delete[],
  options: MergeOptions,
): Promise<Rewritten> {
  const temporary: string[] = [];
  try {
    const slices: Slice[] = [];
    for (const file of files) {
      const read = await slicesOf(connection, file, options);
      slices.push(...read.slices);
      temporary.push(...read.temporary);
    }
    const [{ captureDay } = { captureDay: '' }] = files;
    const { parquetDir, fileBytes, rowGroupBytes, writer } = options;
    const removed = deletes.length > 0 && { removed: excludeDeleted(deletes, captureDay) };
    const written = await writer.write(slices, (own) =>
      writeSealedFiles(own, slices, { parquetDir, fileBytes, rowGroupBytes, ...removed }),
    );
    // The catalog could not rule out the deletions, but they cover no row of the files.
    if (deletes.length > 0 && written.removed === 0) return { kind: 'unchanged' };
    return { kind: 'files', files: written.files };
  } finally {
    for (const path of temporary) await rm(path, { force: true });
  }
}

async function slicesOf(
  connection: DuckDBConnection,
  { file, format, captureDay }: FileRef,
  { parquetDir, hotDirectory, database, limits }: MergeOptions,
): Promise<{ slices: Slice[]; temporary: string[] }> {
  const path = join(parquetDir, file);
  if (!existsSync(path)) throw new Error(`${file} does not exist: it was merged meanwhile, or is lost`);
  if (format === legacyParquetFormat) {
    // Appending to a table ends any read in progress on the same connection.
    const writer = await database.connect();
    try {
      const read = await readLegacyFile(connection, writer, { path, captureDay, directory: hotDirectory, limits });
      return { slices: read.flatMap(({ slices }) => slices), temporary: filePaths(read) };
    } finally {
      writer.closeSync();
    }
  }
  const facts = (await readFacts(connection, [path])).get(path);
  if (facts === undefined) throw new Error(`${file}: its footer does not describe its rows`);
  return { slices: [wholeFile(path, captureDay, facts)], temporary: [] };
}

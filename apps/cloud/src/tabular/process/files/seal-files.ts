/** Rewrites hot files as sealed ones, one or more for each organization and capture day (I9). */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { largeRows } from '../../query/large-rows.ts';
import type { HotBatch } from '../hot/hot-batch.ts';
import { mergeHotBatches } from '../merge/merge-hot-batches.ts';
import { type SealOptions, writeSealedFiles } from '../merge/write-sealed-files.ts';
import type { SealedFile } from '../messages.ts';
import { averageBytes, type Slice, slicesByDay } from './slice.ts';

/**
 * If there are more organizations and days than this, all rows are first sorted together; otherwise each would search all files for its
 * rows.
 */
const mostGroups = 8;
/** Row group of the sorted file: small, so that reading one organization and day reads few rows of the others. */
const sortedRowGroup = 4_096;

export interface SealHotOptions extends SealOptions {
  readonly hotDirectory: string;
}

/** @returns files that become part of the store as soon as the catalog lists them; the hot files stay */
export async function sealFiles(
  connection: DuckDBConnection,
  batches: readonly HotBatch[],
  options: SealHotOptions,
): Promise<SealedFile[]> {
  const slices = batches.flatMap((batch) => batch.slices);
  const groups = slicesByDay(slices);
  const isLarge = averageBytes(slices) > largeRows.rowBytes;
  if (groups.length <= mostGroups || batches.length < 2 || isLarge) return sealGroups(connection, groups, options);
  const sorted = await mergeHotBatches(connection, batches, options.hotDirectory, () => sortedRowGroup);
  try {
    return await sealGroups(connection, slicesByDay(sorted.slices), options);
  } finally {
    for (const { path } of sorted.files) await rm(path, { force: true });
  }
}

async function sealGroups(
  connection: DuckDBConnection,
  groups: readonly (readonly Slice[])[],
  options: SealOptions,
): Promise<SealedFile[]> {
  const sealed: SealedFile[] = [];
  try {
    for (const slices of groups) sealed.push(...(await writeSealedFiles(connection, slices, options)).files);
    return sealed;
  } catch (caught) {
    // The next attempt starts over with all files.
    for (const { file } of sealed) await rm(join(options.parquetDir, file), { force: true });
    throw caught;
  }
}

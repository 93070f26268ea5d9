/** Writes hot files to sealed ones, one or more for each organization and capture day (I9). */
import { rm } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import { largeRows } from '../large-rows.ts';
import type { HotFile } from './hot/hot-file.ts';
import { mergeHotFiles } from './merge/merge-hot-files.ts';
import { type SealOptions, writeSealedFiles } from './merge/write-sealed-files.ts';
import type { SealedFile } from './messages.ts';
import type { Slice } from './slice.ts';

/** More organizations and days than this are first sorted together: each would have to look through all files for its rows. */
const mostGroups = 8;
/** Of the file in which they are sorted: few, so that each group reads little of the others. */
const sortedRowGroup = 4_096;

export interface SealHotOptions extends SealOptions {
  readonly hotDirectory: string;
}

/** @returns files that count as soon as the catalog lists them; the hot files stay. */
export async function sealFiles(
  connection: DuckDBConnection,
  files: readonly HotFile[],
  options: SealHotOptions,
): Promise<SealedFile[]> {
  const groups = groupsOf(files);
  const bytes = files.reduce((sum, { dataBytes }) => sum + dataBytes, 0);
  const isLarge = bytes > largeRows.rowBytes * files.reduce((sum, { rows }) => sum + rows, 0);
  if (groups.length <= mostGroups || files.length < 2 || isLarge) return sealGroups(connection, groups, options);
  const sorted = await mergeHotFiles(connection, files, options.hotDirectory, sortedRowGroup);
  try {
    return await sealGroups(connection, groupsOf([sorted]), options);
  } finally {
    await rm(sorted.path, { force: true });
  }
}

async function sealGroups(
  connection: DuckDBConnection,
  groups: readonly (readonly Slice[])[],
  options: SealOptions,
): Promise<SealedFile[]> {
  const sealed: SealedFile[] = [];
  for (const slices of groups) sealed.push(...(await writeSealedFiles(connection, slices, options)).files);
  return sealed;
}

/** Slices by organization and day. */
function groupsOf(files: readonly HotFile[]): Slice[][] {
  const groups = new Map<string, Slice[]>();
  for (const slice of files.flatMap(({ slices }) => slices)) {
    const key = JSON.stringify([slice.series[0]?.path.organization_id, slice.captureDay]);
    const group = groups.get(key) ?? [];
    group.push(slice);
    groups.set(key, group);
  }
  return [...groups.values()];
}

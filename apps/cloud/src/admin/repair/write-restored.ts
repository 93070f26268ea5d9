/** How a repair writes files: one for an organization and day, within the memory that this cloud may use. */
import { mkdir, rm } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Delete } from '../../tabular/catalog/row-filter.ts';
import { memoryLimitBytes } from '../../tabular/memory-limit.ts';
import { openDatabase } from '../../tabular/process/duckdb/database.ts';
import type { Slice } from '../../tabular/process/files/slice.ts';
import { excludeDeleted } from '../../tabular/process/merge/exclude-deleted.ts';
import { writeSealedFiles } from '../../tabular/process/merge/write-sealed-files.ts';
import { defaultTabularSettings, settingsWithin, type TabularSettings } from '../../tabular/settings.ts';

/** The limits of the tabular store where the repair runs: a container may have less memory than the defaults need. */
export function repairLimits(): Pick<TabularSettings, 'hotFileRows' | 'hotFileBytes' | 'rowGroupBytes'> {
  return { ...defaultTabularSettings, ...settingsWithin(memoryLimitBytes()) };
}

/** A database for a repair, with an empty directory. The caller closes it. */
export async function openWorkDatabase(workDir: string): Promise<DuckDBConnection> {
  await rm(workDir, { recursive: true, force: true });
  await mkdir(workDir, { recursive: true, mode: 0o700 });
  return openDatabase({ parquetDir: workDir, memoryBytes: 1 << 30, threads: 2 }).connect();
}

/**
 * @param slices of one organization and capture day
 * @param options `deletes`: rows that they cover are omitted; if they cover none, nothing is written
 */
export function writeRestored(
  connection: DuckDBConnection,
  slices: readonly Slice[],
  { workDir, deletes }: { readonly workDir: string; readonly deletes: readonly Delete[] },
): ReturnType<typeof writeSealedFiles> {
  const { rowGroupBytes } = repairLimits();
  const captureDay = slices[0]?.captureDay ?? '';
  return writeSealedFiles(connection, slices, {
    ...{ parquetDir: workDir, fileBytes: Number.MAX_SAFE_INTEGER, rowGroupBytes },
    ...(deletes.length > 0 && { removed: excludeDeleted(deletes, captureDay) }),
  });
}

/**
 * Restores readings of uploads that were put back into the ingest log before the sealed position, from where they are no longer loaded. The
 * sealing code writes them to separate files. Rows that are already in files are skipped, so that this can be repeated; so are rows deleted
 * since.
 */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Delete } from '../../tabular/catalog/row-filter.ts';
import type { FileRow } from '../../tabular/integrity/row-checksum.ts';
import type { Slice } from '../../tabular/process/files/slice.ts';
import { logSlices } from '../../tabular/process/log/log-slices.ts';
import type { SealedFile } from '../../tabular/process/messages.ts';
import { existingRows } from './existing-rows.ts';
import { openWorkDatabase, repairLimits, writeRestored } from './write-restored.ts';

export interface RestoreReadingsOptions {
  readonly uploads: readonly { readonly position: number; readonly batch: Uint8Array }[];
  readonly listed: readonly FileRow[];
  readonly parquetDir: string;
  /** The organization's deletions that may cover rows of this position or later ones: all since the uploads arrived. */
  readonly deletesOf: (organizationId: string, position: number) => Promise<readonly Delete[]>;
  /** Created here; contains the new files afterwards. */
  readonly workDir: string;
}

/** Returns the files in workDir; empty if nothing is missing. */
export async function restoreReadings(options: RestoreReadingsOptions): Promise<readonly SealedFile[]> {
  const { uploads, listed, parquetDir, deletesOf, workDir } = options;
  const connection = await openWorkDatabase(workDir);
  const load = (isHeld?: (position: number, index: number) => boolean): Promise<Slice[]> =>
    logSlices(connection, { uploads: inTurn(uploads), isHeld, directory: workDir, limits: repairLimits() });
  try {
    // The days of the rows tell which files may contain them.
    const days = new Set((await load()).map(keyOf));
    const held: string[] = [];
    for (const row of listed) {
      const isOf = days.has(JSON.stringify([row.organization_id, row.capture_day]));
      if (!isOf || !uploads.some(({ position }) => row.min_position <= position && position <= row.max_position))
        continue;
      const path = join(workDir, row.file);
      await copyFile(join(parquetDir, row.file), path);
      held.push(path);
    }
    const written: SealedFile[] = [];
    const first = Math.min(...uploads.map(({ position }) => position));
    const groups = Map.groupBy(await load(await existingRows(connection, held)), keyOf);
    for (const slices of groups.values()) {
      const [{ series } = { series: [] }] = slices;
      const deletes = await deletesOf(series[0]?.path.organization_id ?? '', first);
      const some = await writeRestored(connection, slices, { workDir, deletes });
      // If the deletions cover none of the rows, nothing was written: write again without them.
      const { files } =
        deletes.length > 0 && some.removed === 0
          ? await writeRestored(connection, slices, { workDir, deletes: [] })
          : some;
      written.push(...files);
    }
    return written;
  } finally {
    connection.closeSync();
  }
}

function keyOf({ series, captureDay }: Slice): string {
  return JSON.stringify([series[0]?.path.organization_id, captureDay]);
}

async function* inTurn<T>(values: Iterable<T>): AsyncGenerator<T> {
  yield* values;
}

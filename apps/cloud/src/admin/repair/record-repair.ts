/** Changes that a repair makes to the catalog, each with its audit entry. */
import { aborted, notFound } from '@platform/base';
import { audit, type OwnActor } from '../../access/audit.ts';
import type { Database } from '../../metadata/tables.ts';
import { addFileRow, removeFileRow } from '../../tabular/catalog/catalog-rows.ts';
import { fileRowOf } from '../../tabular/catalog/file-row.ts';
import { noteRestored } from '../../tabular/integrity/file-health.ts';
import type { SealedFile } from '../../tabular/process/messages.ts';

/** Records that the file was restored unchanged. */
export async function recordRestored(
  db: Database,
  file: string,
  from: string,
  by: OwnActor,
  nowMs: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await noteRestored(trx, file, nowMs);
    await audit(trx, by, nowMs, 'admin.repair.restored', ['file', file, null], { from });
  });
}

/** Replaces files whose rows are in other files now. @throws aborted if one is no longer listed */
export async function replaceFiles(
  db: Database,
  replaced: readonly string[],
  files: readonly SealedFile[],
  from: string,
  by: OwnActor,
  nowMs: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (const file of replaced)
      if ((await removeFileRow(trx, file)) === undefined)
        throw aborted(`${file} is no longer listed: it has been merged meanwhile`);
    for (const file of files) await addFileRow(trx, fileRowOf(file, nowMs));
    const detail = { from, as: files.map(({ file }) => file).join(', ') };
    const organizationId = files[0]?.organizationId ?? null;
    for (const file of replaced)
      await audit(trx, by, nowMs, 'admin.repair.restored', ['file', file, organizationId], detail);
  });
}

/** Gives up the file's readings. @throws not_found */
export async function unlistFile(db: Database, file: string, by: OwnActor, nowMs: number): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await removeFileRow(trx, file);
    if (row === undefined) throw notFound(`expected a listed file of readings, found "${file}"`);
    const detail = {
      day: row.capture_day,
      rows: row.rows,
      from_us: row.min_time_received,
      to_us: row.max_time_received,
    };
    await audit(trx, by, nowMs, 'admin.repair.accept-loss', ['file', file, row.organization_id], detail);
  });
}

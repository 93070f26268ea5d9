/** Finds and removes the binary data of a deleted organization. */
import type { Database } from '../../metadata/tables.ts';
import { deleteDataset } from '../collections/datasets.ts';
import { deleteSequence } from '../collections/sequences.ts';
import { removeFiles } from './remove-files.ts';

/** Rows per transaction, kept small because all writers wait for it. */
const rowsAtOnce = 200;

/** Can be repeated after a kill at any instant. @returns how many of each were removed */
export async function removeOrganization(
  db: Database,
  organizationId: string,
  signal: AbortSignal,
): Promise<{ readonly files: number; readonly sequences: number; readonly datasets: number }> {
  return {
    files: await removeFiles(db, { organizationId }, signal),
    sequences: await removeEach(db, 'sequences', organizationId, deleteSequence, signal),
    datasets: await removeEach(db, 'datasets', organizationId, deleteDataset, signal),
  };
}

async function removeEach(
  db: Database,
  table: 'sequences' | 'datasets',
  organizationId: string,
  remove: (trx: Database, row: { readonly id: string }) => Promise<void>,
  signal: AbortSignal,
): Promise<number> {
  for (let removed = 0; ; ) {
    signal.throwIfAborted();
    const rows = await db
      .selectFrom(table)
      .select('id')
      .where('organization_id', '=', organizationId)
      .limit(rowsAtOnce)
      .execute();
    await db.transaction().execute(async (trx) => {
      for (const row of rows) await remove(trx, row);
    });
    removed += rows.length;
    if (rows.length < rowsAtOnce) return removed;
  }
}

/** Adds checksums to the catalog rows of an earlier version, once, in one transaction. */
import type { Database } from '../../metadata/tables.ts';
import { catalogFindings } from './catalog-findings.ts';
import {
  addChecksums,
  deleteRowChecksum,
  deleteValues,
  emptySum,
  fileRowChecksum,
  fileValues,
  stateRowChecksum,
  stateValues,
} from './row-checksum.ts';
import { keepCopy, nameOfDelete, nameOfFile, nameOfState } from './row-copies.ts';

/** Does nothing if this has been done. Returns the number of files; undefined if nothing was done. */
export async function addRowChecksums(db: Database): Promise<number | undefined> {
  const state = await db.selectFrom('tabular_state').selectAll().execute();
  if (state.length !== 1 || state[0]?.row_check !== null) return undefined;
  return await db.transaction().execute(async (trx) => {
    const files = await trx.selectFrom('tabular_files').selectAll().execute();
    const deletes = await trx.selectFrom('tabular_deletes').selectAll().execute();
    const proofs = await trx.selectFrom('tabular_proofs').selectAll().execute();
    const days = await trx.selectFrom('tabular_day_proofs').selectAll().execute();
    // Only the sealed position lacks its checksum: rows that already have checksums are not given new ones.
    const isProven = proofs.length > 0 && [...files, ...deletes].every((row) => row.row_check !== null);
    if (
      isProven &&
      catalogFindings({ state: [], files, deletes, proofs, days }).some((each) => each.organizationId !== null)
    )
      return undefined;
    for (const row of files)
      await trx
        .updateTable('tabular_files')
        .set({ row_check: fileRowChecksum(row) })
        .where('file', '=', row.file)
        .execute();
    for (const row of deletes)
      await trx
        .updateTable('tabular_deletes')
        .set({ row_check: deleteRowChecksum(row) })
        .where('id', '=', row.id)
        .execute();
    await trx.deleteFrom('tabular_proofs').execute();
    await trx.deleteFrom('tabular_copies').execute();
    for (const row of files) await keepCopy(trx, nameOfFile(row.file), row.organization_id, fileValues(row));
    for (const row of deletes) await keepCopy(trx, nameOfDelete(row.id), row.organization_id, deleteValues(row));
    await keepCopy(trx, nameOfState, '', stateValues(state[0]?.sealed_position ?? 0));
    const organizations = new Set([...files, ...deletes].map((row) => row.organization_id));
    for (const organizationId of organizations) {
      const ofFiles = files.filter((row) => row.organization_id === organizationId).map(fileRowChecksum);
      const ofDeletes = deletes.filter((row) => row.organization_id === organizationId).map(deleteRowChecksum);
      await trx
        .insertInto('tabular_proofs')
        .values({
          organization_id: organizationId,
          ...{ files: ofFiles.length, files_sum: addChecksums(emptySum, ofFiles) },
          ...{ deletes: ofDeletes.length, deletes_sum: addChecksums(emptySum, ofDeletes) },
        })
        .execute();
    }
    await trx
      .updateTable('tabular_state')
      .set({ row_check: stateRowChecksum(state[0]?.sealed_position ?? 0) })
      .where('id', '=', 1)
      .execute();
    return files.length;
  });
}

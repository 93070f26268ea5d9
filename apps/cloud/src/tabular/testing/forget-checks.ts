/** Removes the checksums from a catalog, as if an earlier version had written it; the next start adds new ones. */
import type { Database } from '../../metadata/tables.ts';

export async function forgetChecks(db: Database): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .updateTable('tabular_files')
      .set({ sha256: null, block_crcs: null, row_check: null, proof_day: null })
      .execute();
    await trx.updateTable('tabular_deletes').set({ row_check: null }).execute();
    await trx.updateTable('tabular_state').set({ row_check: null }).execute();
    for (const table of ['tabular_proofs', 'tabular_day_proofs', 'tabular_copies'] as const)
      await trx.deleteFrom(table).execute();
  });
}

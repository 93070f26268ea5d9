/**
 * Deletes all data of an organization when it is deleted: readings, files, datasets, sequences and retention policies. Its metering and its
 * audit trail stay.
 *
 * States: marked (a deletion of everything in the catalog, in the transaction that deletes the organization: I10) → being removed (in the
 * background, in small steps, and again for an hour, because uploads admitted before may still arrive) → the deletion ends.
 */
import { chunks } from '@platform/base';
import { audit } from '../access/audit.ts';
import { removeOrganization } from '../binary/change/remove-organization.ts';
import { writeRetentionDays } from '../binary/retention-days/write-retention-days.ts';
import { rowsPerStatement } from '../metadata/rows-per-statement.ts';
import type { Database } from '../metadata/tables.ts';
import { addDeleteRow } from '../tabular/catalog/catalog-rows.ts';
import { systemActor } from './system-actor.ts';

/** Must be called in the transaction that deletes the organization. */
export async function deleteOrganizationData(trx: Database, organizationId: string, nowMs: number): Promise<void> {
  const everything = {
    organization_id: organizationId,
    predicate: '{}',
    up_to: Number.MAX_SAFE_INTEGER,
    created_ms: nowMs,
  };
  await addDeleteRow(trx, everything);
}

/**
 * Everything except readings, which are removed like all deleted rows (tabular/deletion/remove-deleted.ts). Can be repeated after a kill at
 * any instant.
 */
export async function removeOrganizationData(
  db: Database,
  organizationId: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const removed = await removeOrganization(db, organizationId, signal);
  await db.transaction().execute(async (trx) => {
    const parts = await trx
      .selectFrom('data_policies')
      .select('part_id')
      .where('organization_id', '=', organizationId)
      .execute();
    const partIds = parts.map((row) => row.part_id);
    for (const some of chunks(partIds, rowsPerStatement)) await writeRetentionDays(trx, some, []);
    for (const table of ['data_policies', 'data_policy_changes'] as const)
      await trx.deleteFrom(table).where('organization_id', '=', organizationId).execute();
    if (removed.files + removed.sequences + removed.datasets === 0) return;
    const target = ['organization', organizationId, organizationId] as const;
    await audit(trx, systemActor, nowMs, 'platform.delete-organization-data', target, removed);
  });
}

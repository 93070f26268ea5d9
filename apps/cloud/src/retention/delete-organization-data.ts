/**
 * Deletes all data of an organization when it is deleted: readings, files, datasets, sequences and retention policies. Its metering and its
 * audit trail stay.
 *
 * States: marked (a deletion of everything in the catalog, in the transaction that deletes the organization: I10) → being removed (in the
 * background, in small steps, and again for an hour, because uploads admitted before may still arrive) → the deletion ends.
 */
import { chunks } from '@platform/base';
import type { Kysely } from 'kysely';
import { audit } from '../access/audit.ts';
import { auditedTargets } from '../access/audit-entries.ts';
import { storedOrganizations } from '../accounts/organizations/stored-organizations.ts';
import { hasDataOf, removeOrganization } from '../binary/change/remove-organization.ts';
import { writeRetentionDays } from '../binary/retention-days/write-retention-days.ts';
import { rowsPerStatement } from '../metadata/rows-per-statement.ts';
import type { CloudTables, Database } from '../metadata/tables.ts';
import { addDeleteRow } from '../tabular/catalog/catalog-rows.ts';
import { organizationsWithDeletes } from '../tabular/deletion/stored-deletes.ts';
import type { Tabular } from '../tabular/tabular.ts';
import { systemActor } from './system-actor.ts';

/** Must be called in the transaction that deletes the organization. */
export async function deleteOrganizationData(
  trx: Kysely<CloudTables>,
  organizationId: string,
  nowMs: number,
): Promise<void> {
  const everything = {
    organization_id: organizationId,
    predicate: '{}',
    up_to: Number.MAX_SAFE_INTEGER,
    created_ms: nowMs,
  };
  await addDeleteRow(trx, everything);
}

/** Marks organizations that an earlier version deleted without their data; the audit trail names them. Once per process is enough. */
export async function markForgottenOrganizations(
  db: Database,
  tabular: Pick<Tabular, 'organizations'>,
  nowMs: number,
): Promise<void> {
  // The order matters: an organization deleted in the meantime is either not in the first list, or already marked.
  const deleted = new Set(await auditedTargets(db, 'AppService.DeleteOrganization'));
  for (const { id } of await storedOrganizations(db)) deleted.delete(id);
  for (const id of await organizationsWithDeletes(db, true)) deleted.delete(id);
  const withReadings = new Set(deleted.size === 0 ? [] : await tabular.organizations());
  for (const id of deleted)
    if (withReadings.has(id) || (await hasDataOf(db, id)) || (await hasPolicies(db, id)))
      await db.transaction().execute((trx) => deleteOrganizationData(trx, id, nowMs));
}

async function hasPolicies(db: Database, organizationId: string): Promise<boolean> {
  const found = await db
    .selectFrom('data_policies')
    .select('part_id')
    .where('organization_id', '=', organizationId)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
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

/**
 * All data of an organization goes when it is deleted: readings, files, datasets, sequences, and what was said of their retention.
 * What it was metered with and its audit trail stay.
 *
 * States: marked (a deletion of everything in the catalog, in the transaction that deletes the organization: I10) → being removed (in
 * the background, a little at a time, and again for an hour: uploads that were let in before may still arrive) → the deletion ends.
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

/** In the transaction that deletes the organization. */
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

/** Organizations that an earlier version deleted left their data behind: the audit trail names them. Once in a process is enough. */
export async function markForgottenOrganizations(
  db: Database,
  tabular: Pick<Tabular, 'organizations'>,
  nowMs: number,
): Promise<void> {
  // In this order: one that is deleted meanwhile is not among the first, or marked by the last.
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

/** All but readings, which go as every deletion does (tabular/deletion/remove-deleted.ts). Repeatable after a kill at any instant. */
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

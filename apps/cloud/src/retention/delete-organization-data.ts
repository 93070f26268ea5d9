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
import { deleteDataset } from '../binary/collections/datasets.ts';
import { deleteSequence } from '../binary/collections/sequences.ts';
import { writeRetentionDays } from '../binary/retention-days/write-retention-days.ts';
import { rowsPerStatement } from '../metadata/rows-per-statement.ts';
import type { CloudTables, Database } from '../metadata/tables.ts';
import { addDeleteRow } from '../tabular/catalog/catalog-rows.ts';
import { removeBinaryOf } from './remove-binary.ts';
import { systemActor } from './system-actor.ts';

/** Rows in one transaction, which all writers wait for. */
const rowsAtOnce = 200;

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
export async function markForgottenOrganizations(db: Database, nowMs: number): Promise<void> {
  const deleted = await db
    .selectFrom('audit_entries')
    .select('target_id as id')
    .distinct()
    .where('action', '=', 'AppService.DeleteOrganization')
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('organizations').select('id').whereRef('id', '=', 'audit_entries.target_id'))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('tabular_deletes')
            .select('id')
            .whereRef('organization_id', '=', 'audit_entries.target_id')
            .where('predicate', '=', '{}'),
        ),
      ),
    )
    .execute();
  for (const { id } of deleted)
    if (await hasData(db, id)) await db.transaction().execute((trx) => deleteOrganizationData(trx, id, nowMs));
}

async function hasData(db: Database, organizationId: string): Promise<boolean> {
  for (const table of ['tabular_files', 'binary_data', 'datasets', 'sequences', 'data_policies'] as const) {
    const found = await db
      .selectFrom(table)
      .select('organization_id')
      .where('organization_id', '=', organizationId)
      .limit(1)
      .execute();
    if (found.length > 0) return true;
  }
  return false;
}

/** All but readings, which go as every deletion does (tabular/deletion/remove-deleted.ts). Repeatable after a kill at any instant. */
export async function removeOrganizationData(
  db: Database,
  organizationId: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const files = await removeBinaryOf(db, organizationId, signal);
  const sequences = await removeEach(db, 'sequences', organizationId, deleteSequence, signal);
  const datasets = await removeEach(db, 'datasets', organizationId, deleteDataset, signal);
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
    if (files + sequences + datasets === 0) return;
    const target = { targetKind: 'organization', targetId: organizationId };
    const change = { action: 'platform.delete-organization-data', organizationId, ...target };
    await audit(trx, systemActor, { ...change, detail: { files, sequences, datasets } }, nowMs);
  });
}

async function removeEach(
  db: Database,
  table: 'sequences' | 'datasets',
  organizationId: string,
  remove: (trx: Kysely<CloudTables>, row: { readonly id: string }) => Promise<void>,
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

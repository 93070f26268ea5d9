/** Deletes all data of a deleted part, if its configuration says so (`delete_data_on_part_deletion`). */
import type { DataPolicies } from '@platform/machine-config/data-policies';
import { audit, type Caller } from '../access/audit.ts';
import { deleteFilesOfPart } from '../binary/change/remove-files.ts';
import { requireRight } from '../metadata/row-checks/require-right.ts';
import type { Database } from '../metadata/tables.ts';
import { addDeleteRow } from '../tabular/catalog/catalog-rows.ts';
import { dataPolicies } from './store.ts';

/** Limit per transaction, because all writers wait for it; the rest is removed minutes later (remove-expired.ts). */
const maxFilesAtOnce = 5_000;

/** Must be called in the transaction that deletes the part. Data of uploads admitted before but stored later is deleted, too. */
export async function deletePartData(trx: Database, partId: string, by: Caller, nowMs: number): Promise<void> {
  const row = await trx.selectFrom('data_policies').selectAll().where('part_id', '=', partId).executeTakeFirst();
  if (row !== undefined) requireRight(dataPolicies, [row]);
  if (row === undefined || !(JSON.parse(row.policies) as DataPolicies).deleteOnPartDeletion) return;
  const { organization_id: organizationId } = row;
  await addDeleteRow(trx, {
    organization_id: organizationId,
    predicate: JSON.stringify({ paths: { part_id: [partId] } }),
    up_to: Number.MAX_SAFE_INTEGER,
    created_ms: nowMs,
  });
  await deleteFilesOfPart(trx, partId, maxFilesAtOnce);
  const detail = { reason: 'delete_data_on_part_deletion' };
  await audit(trx, by, nowMs, 'platform.delete-part-data', ['part', partId, organizationId], detail);
}

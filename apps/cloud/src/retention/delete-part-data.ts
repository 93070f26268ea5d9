/** Deletes all data of a part that is deleted, if its configuration says so (`delete_data_on_part_deletion`). */
import type { DataPolicies } from '@platform/machine-config/data-policies';
import type { Kysely } from 'kysely';
import { audit, type Caller } from '../access/audit.ts';
import { deleteFilesOfPart } from '../binary/change/remove-files.ts';
import type { CloudTables } from '../metadata/tables.ts';
import { addDeleteRow } from '../tabular/catalog/catalog-rows.ts';

/** All writers wait for the transaction; the rest goes minutes later (remove-expired.ts). */
const maxFilesAtOnce = 5_000;

/** In the transaction that deletes the part. What an upload that was let in before still brings is deleted as well. */
export async function deletePartData(
  trx: Kysely<CloudTables>,
  partId: string,
  by: Caller,
  nowMs: number,
): Promise<void> {
  const row = await trx
    .selectFrom('data_policies')
    .select(['organization_id', 'policies'])
    .where('part_id', '=', partId)
    .executeTakeFirst();
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

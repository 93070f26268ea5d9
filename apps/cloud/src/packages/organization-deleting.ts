/** Deletes an organization's packages and modules together with the organization. */
import type { Database } from '../metadata/tables.ts';
import { deletePackages } from './delete-packages.ts';

/** Runs in the transaction of the deletion. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  const rows = await trx
    .selectFrom('packages')
    .select(['id', 'blob_path'])
    .where('organization_id', '=', organizationId)
    .execute();
  await deletePackages(trx, rows);
  await trx.deleteFrom('modules').where('organization_id', '=', organizationId).execute();
}

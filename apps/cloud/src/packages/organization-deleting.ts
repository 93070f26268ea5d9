/** What goes with an organization: its packages. */
import type { Database } from '../metadata/tables.ts';
import { deletePackages } from './delete-packages.ts';

/** In the transaction that deletes. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  const rows = await trx
    .selectFrom('packages')
    .select(['id', 'blob_path'])
    .where('organization_id', '=', organizationId)
    .execute();
  await deletePackages(trx, rows);
}

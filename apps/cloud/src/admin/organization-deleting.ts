/** Deletes an organization's limits together with the organization. */
import type { Database } from '../metadata/tables.ts';

/** Runs in the transaction of the deletion. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  await trx.deleteFrom('limits').where('organization_id', '=', organizationId).execute();
}

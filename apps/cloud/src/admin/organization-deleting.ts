/** What goes with an organization: the limits that the host administrator set for it. */
import type { Database } from '../metadata/tables.ts';

/** In the transaction that deletes. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  await trx.deleteFrom('limits').where('organization_id', '=', organizationId).execute();
}

/** Deletes an organization's invitations, and the dates on which people joined it, together with the organization. */
import type { Database } from '../metadata/tables.ts';

/** Runs in the transaction of the deletion. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  for (const table of ['invitations', 'organization_joins'] as const)
    await trx.deleteFrom(table).where('organization_id', '=', organizationId).execute();
}

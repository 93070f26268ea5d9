/** What goes with an organization: its invitations, and the dates on which people joined it. */
import type { Database } from '../metadata/tables.ts';

/** In the transaction that deletes. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  for (const table of ['invitations', 'organization_joins'] as const)
    await trx.deleteFrom(table).where('organization_id', '=', organizationId).execute();
}

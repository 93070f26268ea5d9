/** What goes with an organization: its invitations, and the dates on which people joined it. */
import type { Database } from '../metadata/tables.ts';

/** In the transaction that deletes. Locations take nothing of ours along: acceptance passes over roles on what is gone. */
export async function beforeDelete(
  trx: Database,
  deleted: { readonly kind: string; readonly organizationId: string },
): Promise<void> {
  if (deleted.kind !== 'organization') return;
  for (const table of ['invitations', 'organization_joins'] as const)
    await trx.deleteFrom(table).where('organization_id', '=', deleted.organizationId).execute();
}

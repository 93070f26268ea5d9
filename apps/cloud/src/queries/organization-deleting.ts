/** Deletes an organization's saved queries and indexes together with the organization. */
import type { Database } from '../metadata/tables.ts';

/** Runs in the transaction of the deletion. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  for (const table of ['saved_queries', 'data_indexes'] as const)
    await trx.deleteFrom(table).where('organization_id', '=', organizationId).execute();
}

/** What goes with an organization: its saved queries and indexes. */
import type { Database } from '../metadata/tables.ts';

/** In the transaction that deletes. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  for (const table of ['saved_queries', 'data_indexes'] as const)
    await trx.deleteFrom(table).where('organization_id', '=', organizationId).execute();
}

/** What goes with an organization: its saved queries and indexes. */
import type { Kysely } from 'kysely';
import type { CloudTables } from '../metadata/tables.ts';

/** In the transaction that deletes. */
export async function forgetQueriesOf(
  trx: Kysely<CloudTables>,
  deleted: { readonly kind: string; readonly organizationId: string },
): Promise<void> {
  if (deleted.kind !== 'organization') return;
  for (const table of ['saved_queries', 'data_indexes'] as const)
    await trx.deleteFrom(table).where('organization_id', '=', deleted.organizationId).execute();
}

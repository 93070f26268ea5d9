/** How much each organization stores in sealed files, for billing. Unsealed readings are not counted. */
import type { Kysely } from 'kysely';
import type { TabularTables } from './store.ts';

/** Logical bytes, as metered for queries: compaction and compression do not change them. */
export async function storedReadings(
  db: Kysely<TabularTables>,
): Promise<readonly { readonly organizationId: string; readonly quantity: number }[]> {
  const rows = await db
    .selectFrom('tabular_files')
    .select(({ fn }) => ['organization_id', fn.sum<number | string>('logical_bytes').as('bytes')])
    .groupBy('organization_id')
    .execute();
  return rows.map(({ organization_id, bytes }) => ({ organizationId: organization_id, quantity: Number(bytes) }));
}

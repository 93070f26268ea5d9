/** How many bytes of pictures and files each organization stores, for billing. */
import type { Kysely } from 'kysely';
import type { BinaryTables } from './store.ts';

export async function storedFiles(
  db: Kysely<BinaryTables>,
): Promise<readonly { readonly organizationId: string; readonly quantity: number }[]> {
  const rows = await db
    .selectFrom('binary_data')
    .select(({ fn }) => ['organization_id', fn.sum<number | string>('size_bytes').as('bytes')])
    .groupBy('organization_id')
    .execute();
  return rows.map(({ organization_id, bytes }) => ({ organizationId: organization_id, quantity: Number(bytes) }));
}

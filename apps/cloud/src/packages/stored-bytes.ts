/** Bytes of packages and modules that each organization stores, for billing. */
import type { Kysely } from 'kysely';
import type { PackagesTables } from './store.ts';

export async function storedPackages(
  db: Kysely<PackagesTables>,
): Promise<readonly { readonly organizationId: string; readonly quantity: number }[]> {
  const rows = await db
    .selectFrom('packages')
    .select(({ fn }) => ['organization_id', fn.sum<number | string>('size_bytes').as('bytes')])
    .groupBy('organization_id')
    .execute();
  return rows.map(({ organization_id, bytes }) => ({ organizationId: organization_id, quantity: Number(bytes) }));
}

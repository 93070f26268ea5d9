import type { SelectQueryBuilder } from 'kysely';
import type { CloudTables } from './tables.ts';

/** How many rows a query finds. */
export async function countRows<T extends keyof CloudTables>(
  found: SelectQueryBuilder<CloudTables, T, object>,
): Promise<number> {
  const { count } = await found
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

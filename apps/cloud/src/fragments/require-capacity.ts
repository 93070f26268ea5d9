import { resourceExhausted } from '@platform/base';
import { countRows } from '../metadata/count-rows.ts';
import type { DatabaseTransaction } from '../metadata/tables.ts';

/** Maximum number of fragments of an organization, unless the host administrator sets another one. */
export const defaultMaxFragments: number = 1_000;

/** Must be called in the transaction that creates one. @throws resource_exhausted */
export async function requireCapacity(
  trx: DatabaseTransaction,
  organizationId: string,
  maxFragments: number,
): Promise<void> {
  const count = await countRows(trx.selectFrom('fragments').where('organization_id', '=', organizationId));
  if (count < maxFragments) return;
  throw resourceExhausted(
    `organization ${organizationId}: expected at most ${maxFragments} fragments, found ${count}: delete one first, or ask the host administrator for a higher limit`,
  );
}

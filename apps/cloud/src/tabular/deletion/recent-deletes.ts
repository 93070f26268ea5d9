/** Deletions by people, kept as long as a covered upload may be sent again and recognised by its content (D13). */
import type { Database } from '../../metadata/tables.ts';
import type { Delete, DeletePredicate } from '../catalog/row-filter.ts';
import type { TabularRecentDeletesTable } from '../store.ts';

type RecentDelete = Omit<TabularRecentDeletesTable, 'id'>;

/** Longer than uploads are recognised; an upload is older than any deletion that covers it. */
export const recentDeletesMs: number = 8 * 24 * 3_600_000;

/** Runs in the deleting transaction, so that both records always agree. */
export async function noteRecentDelete(trx: Database, row: RecentDelete): Promise<void> {
  await trx
    .deleteFrom('tabular_recent_deletes')
    .where('created_ms', '<', row.created_ms - recentDeletesMs)
    .execute();
  await trx.insertInto('tabular_recent_deletes').values(row).execute();
}

/** Deletions that may cover rows at a position. */
export async function recentDeletes(
  db: Database,
  organizationId: string,
  position: number,
): Promise<readonly Delete[]> {
  const rows = await db
    .selectFrom('tabular_recent_deletes')
    .select(['predicate', 'up_to'])
    .where('organization_id', '=', organizationId)
    .where('up_to', '>=', position)
    .execute();
  return rows.map((row) => ({ predicate: JSON.parse(row.predicate) as DeletePredicate, upTo: row.up_to }));
}

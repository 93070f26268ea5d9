/** Sends finished deliveries again, with the same ids, so that receivers recognise what they have already received. */
import { chunks } from '@platform/base';
import { partGroups } from '../../metadata/part-groups.ts';
import type { OutboxDatabase, OutboxTransaction } from '../store.ts';
import { columns, type DeliveryFilter, type DeliveryRow, selected } from './list-deliveries.ts';

const rowsPerStatement = 500;

export interface RetriedDelivery {
  readonly id: string;
  /** The sealed Authorization header, which finished messages no longer have. null: the target needs none. */
  readonly sealed: Uint8Array | null;
}

/** Makes finished deliveries due at once, with all their attempts available again; others do not change. */
export async function retryDeliveries(
  trx: OutboxTransaction,
  retried: readonly RetriedDelivery[],
  nowMs: number,
): Promise<void> {
  for (const [sealed, alike] of Map.groupBy(retried, (one) => one.sealed)) {
    const ids = alike.map(({ id }) => id);
    for (const some of chunks(ids, rowsPerStatement))
      await trx
        .updateTable('outbox_messages')
        .set(({ ref }) => ({
          ...{ state: 'pending', next_attempt_at: nowMs, finished_at: null, digest: null, held: 0 },
          ...{ retried_at: nowMs, retried_attempts: ref('attempts'), sealed },
        }))
        .where('id', 'in', some)
        .where('state', 'in', ['delivered', 'kept', 'failed'])
        .execute();
  }
}

/** Makes a waiting delivery due now. */
export async function makeDeliveryDue(trx: OutboxTransaction, id: string, nowMs: number): Promise<void> {
  await trx
    .updateTable('outbox_messages')
    .set({ next_attempt_at: nowMs })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .where('next_attempt_at', '>', nowMs)
    .execute();
}

/** Oldest first. @param limit of deliveries that are found */
export async function deliveriesBetween(
  db: OutboxDatabase,
  filter: DeliveryFilter,
  limit: number,
): Promise<readonly DeliveryRow[]> {
  const found: DeliveryRow[] = [];
  for (const group of partGroups(filter.partIds)) {
    let query = selected(db, filter).select(columns).orderBy('created_at').orderBy('id').limit(limit);
    if (group !== undefined) query = query.where('part_id', 'in', group);
    found.push(...(await query.execute()));
  }
  return found.sort((a, b) => a.created_at - b.created_at).slice(0, limit);
}

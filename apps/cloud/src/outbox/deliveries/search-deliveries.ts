/** Finds and counts deliveries by text, which the store cannot compare without regard to case in every script. */

import { partGroups } from '../../metadata/part-groups.ts';
import type { MessageState, OutboxDatabase } from '../store.ts';
import { withAttempts } from '../with-attempts.ts';
import {
  type Delivery,
  type DeliveryFilter,
  type DeliveryKey,
  type DeliveryRow,
  rowsAfter,
  selected,
} from './list-deliveries.ts';

/** Whether a delivery is wanted. Absent: every one is. */
export type Matches = ((row: DeliveryRow) => boolean) | undefined;

/** A request looks at no more deliveries than this. */
export const maxExamined = 10_000;
const rowsPerQuery = 500;

export interface Found {
  readonly deliveries: readonly Delivery[];
  /** Where the next page begins; absent: this is the last. */
  readonly after?: DeliveryKey;
}

/** Newest first; fewer than `limit` if there are too many to look at. */
export async function searchDeliveries(
  db: OutboxDatabase,
  filter: DeliveryFilter,
  matches: Matches,
  limit: number,
  after?: DeliveryKey,
): Promise<Found> {
  const found: (DeliveryRow & { readonly tried: number })[] = [];
  let last = after;
  const page = async (): Promise<Found> => ({
    deliveries: await withAttempts(db, found),
    ...(last && { after: last }),
  });
  const perQuery = matches === undefined ? limit + 1 : rowsPerQuery;
  for (let examined = 0; examined < maxExamined; examined += perQuery) {
    const rows = await rowsAfter(db, filter, perQuery, last);
    for (const row of rows) {
      if (matches?.(row) === false) {
        last = keyOf(row);
        continue;
      }
      if (found.length === limit) return await page();
      found.push(row);
      last = keyOf(row);
    }
    if (rows.length < perQuery) return { deliveries: await withAttempts(db, found) };
  }
  return await page();
}

export interface DeliveryCounts {
  readonly byState: ReadonlyMap<MessageState, number>;
  /** There are more: only the newest were counted. */
  readonly isPartial: boolean;
}

export async function countDeliveries(
  db: OutboxDatabase,
  filter: DeliveryFilter,
  matches: Matches,
): Promise<DeliveryCounts> {
  return matches === undefined ? await countRows(db, filter) : await countMatching(db, filter, matches);
}

async function countRows(db: OutboxDatabase, filter: DeliveryFilter): Promise<DeliveryCounts> {
  const byState = new Map<MessageState, number>();
  let examined = 0;
  for (const group of partGroups(filter.partIds)) {
    let newest = selected(db, filter)
      .select('state')
      .orderBy('created_at', 'desc')
      .limit(maxExamined + 1);
    if (group !== undefined) newest = newest.where('part_id', 'in', group);
    const rows = await db
      .selectFrom(newest.as('newest'))
      .select(({ fn }) => ['state', fn.countAll<number | string>().as('count')])
      .groupBy('state')
      .execute();
    for (const { state, count } of rows) {
      byState.set(state, (byState.get(state) ?? 0) + Number(count));
      examined += Number(count);
    }
  }
  return { byState, isPartial: examined > maxExamined };
}

async function countMatching(
  db: OutboxDatabase,
  filter: DeliveryFilter,
  matches: NonNullable<Matches>,
): Promise<DeliveryCounts> {
  const byState = new Map<MessageState, number>();
  let last: DeliveryKey | undefined;
  for (let examined = 0; examined < maxExamined; examined += rowsPerQuery) {
    const rows = await rowsAfter(db, filter, rowsPerQuery, last);
    for (const row of rows) if (matches(row)) byState.set(row.state, (byState.get(row.state) ?? 0) + 1);
    const oldest = rows.at(-1);
    if (oldest === undefined || rows.length < rowsPerQuery) return { byState, isPartial: false };
    last = keyOf(oldest);
  }
  return { byState, isPartial: true };
}

function keyOf({ created_at: createdAtMs, id }: DeliveryRow): DeliveryKey {
  return { createdAtMs, id };
}

/** Reads the history of triggers. */
import { pagedPartGroups } from '../../metadata/part-groups.ts';
import type { DeliveryFilter } from '../../outbox/deliveries/list-deliveries.ts';
import type { TriggersDatabase, TriggersTables } from '../store.ts';
import type { HistoryOutcome } from './trigger-history.ts';

export type HistoryRow = TriggersTables['trigger_history'];

export interface HistoryFilter extends Pick<DeliveryFilter, 'organizationId' | 'partIds' | 'triggerName'> {
  readonly outcomes?: readonly HistoryOutcome[];
  /** Minutes that begin at this time or later, ms. */
  readonly startMs?: number;
  /** Minutes that begin before this time, ms. */
  readonly endMs?: number;
}

/** The last row of a page. */
export interface HistoryKey {
  readonly minute: number;
  readonly id: string;
}

/** Newest first. @param after the last row of the previous page; undefined: the first page */
export async function listHistory(
  db: TriggersDatabase,
  filter: HistoryFilter,
  limit: number,
  after?: HistoryKey,
): Promise<HistoryRow[]> {
  const found: HistoryRow[] = [];
  for (const group of pagedPartGroups(filter.partIds)) found.push(...(await page(db, filter, group, limit, after)));
  return found.sort((a, b) => b.minute - a.minute || (a.id < b.id ? 1 : -1)).slice(0, limit);
}

function page(
  db: TriggersDatabase,
  { organizationId, triggerName, outcomes, startMs, endMs }: HistoryFilter,
  partIds: readonly string[] | undefined,
  limit: number,
  after: HistoryKey | undefined,
): Promise<HistoryRow[]> {
  let query = db
    .selectFrom('trigger_history')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('minute', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  if (partIds !== undefined) query = query.where('part_id', 'in', partIds);
  if (triggerName !== undefined) query = query.where('trigger_name', '=', triggerName);
  if (outcomes !== undefined) query = query.where('outcome', 'in', outcomes);
  if (startMs !== undefined) query = query.where('minute', '>=', startMs);
  if (endMs !== undefined) query = query.where('minute', '<', endMs);
  if (after !== undefined)
    query = query.where((where) => where(where.refTuple('minute', 'id'), '<', where.tuple(after.minute, after.id)));
  return query.execute();
}

/** When each trigger of a part last fired, ms. */
export async function lastFiredOf(
  db: TriggersDatabase,
  organizationId: string,
  partId: string,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('trigger_last_fired')
    .select(['trigger_name', 'at'])
    .where('organization_id', '=', organizationId)
    .where('part_id', '=', partId)
    .execute();
  return new Map(rows.map(({ trigger_name, at }) => [trigger_name, at]));
}

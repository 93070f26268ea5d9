/** The delivery log: what triggers have sent or will send, with every attempt. It does not contain messages that no trigger caused. */
import type { SelectQueryBuilder } from 'kysely';
import { pagedPartGroups } from '../../metadata/part-groups.ts';
import type {
  ChannelName,
  MessageState,
  OutboxAttemptRow,
  OutboxDatabase,
  OutboxMessageRow,
  OutboxTables,
} from '../store.ts';
import { withAttempts } from '../with-attempts.ts';

export const columns = [
  'id',
  'channel',
  'organization_id',
  'part_id',
  'target',
  'application',
  'trigger_name',
  'event_type',
  'state',
  'event_at',
  'created_at',
  'finished_at',
  'next_attempt_at',
  'retried_at',
  'retried_attempts',
  'urgency',
] as const;

/** A message without its content and secrets. */
export type DeliveryRow = Pick<OutboxMessageRow, (typeof columns)[number]>;

/** With the number of its last attempt. */
type TriedRow = DeliveryRow & { readonly tried: number };
const triedColumns = [...columns, 'attempts as tried'] as const;

export interface Delivery extends DeliveryRow {
  /** In order. */
  readonly attempts: readonly OutboxAttemptRow[];
}

/** With its event. */
export type WholeDelivery = Delivery & Pick<OutboxMessageRow, 'event'>;

export interface DeliveryFilter {
  readonly organizationId: string;
  /** Only deliveries of these parts; undefined: of all parts, including deleted ones. */
  readonly partIds: readonly string[] | undefined;
  readonly triggerName?: string;
  readonly states?: readonly MessageState[];
  readonly channels?: readonly ChannelName[];
  /** Created at this time or later, ms. */
  readonly startMs?: number;
  /** Created before this time, ms. */
  readonly endMs?: number;
}

/** The last delivery of a page. */
export interface DeliveryKey {
  readonly createdAtMs: number;
  readonly id: string;
}

/** Newest first. @param after the last delivery of the previous page; undefined: the first page */
export async function listDeliveries(
  db: OutboxDatabase,
  filter: DeliveryFilter,
  limit: number,
  after?: DeliveryKey,
): Promise<Delivery[]> {
  return await withAttempts(db, await rowsAfter(db, filter, limit, after));
}

/** As `listDeliveries`, without attempts. */
export async function rowsAfter(
  db: OutboxDatabase,
  filter: DeliveryFilter,
  limit: number,
  after?: DeliveryKey,
): Promise<readonly TriedRow[]> {
  const found: TriedRow[] = [];
  for (const group of pagedPartGroups(filter.partIds)) found.push(...(await page(db, filter, group, limit, after)));
  found.sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1));
  return found.slice(0, limit);
}

/** Undefined: these organizations have no delivery with this id. */
export async function readDelivery(
  db: OutboxDatabase,
  id: string,
  organizationIds: readonly string[],
): Promise<WholeDelivery | undefined> {
  if (organizationIds.length === 0) return undefined;
  const row = await db
    .selectFrom('outbox_messages')
    .select([...triedColumns, 'event'])
    .where('id', '=', id)
    .where('organization_id', 'in', organizationIds)
    .where('trigger_name', '!=', '')
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const [delivery] = await withAttempts(db, [row]);
  return delivery;
}

/** Messages of triggers that the filter selects. */
export function selected(
  db: OutboxDatabase,
  filter: DeliveryFilter,
): SelectQueryBuilder<OutboxTables, 'outbox_messages', object> {
  const { organizationId, triggerName, states, channels, startMs, endMs } = filter;
  let query = db
    .selectFrom('outbox_messages')
    .where('organization_id', '=', organizationId)
    .where('trigger_name', '!=', '');
  if (triggerName !== undefined) query = query.where('trigger_name', '=', triggerName);
  if (states !== undefined) query = query.where('state', 'in', states);
  if (channels !== undefined) query = query.where('channel', 'in', channels);
  if (startMs !== undefined) query = query.where('created_at', '>=', startMs);
  if (endMs !== undefined) query = query.where('created_at', '<', endMs);
  return query;
}

function page(
  db: OutboxDatabase,
  filter: DeliveryFilter,
  partIds: readonly string[] | undefined,
  limit: number,
  after: DeliveryKey | undefined,
): Promise<TriedRow[]> {
  let query = selected(db, filter)
    .select(triedColumns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit);
  if (partIds !== undefined) query = query.where('part_id', 'in', partIds);
  if (after !== undefined)
    query = query.where((where) =>
      where(where.refTuple('created_at', 'id'), '<', where.tuple(after.createdAtMs, after.id)),
    );
  return query.execute();
}

/** Counts notifications that were sent, for billing: each once, in the transaction that records its delivery. */
import { hourMs } from '@platform/base';
import { sql } from 'kysely';
import { readProvenHours } from '../metadata/row-checks/read-proven-hours.ts';
import { notificationUsage, type OutboxDatabase, type OutboxTransaction } from './store.ts';

/** When the hour in which something was sent began, ms. */
export function sentHour(sentMs: number): number {
  return Math.floor(sentMs / hourMs) * hourMs;
}

/**
 * Must be called before the messages are marked as delivered: delivered ones were counted already, because the first attempt to record them
 * may have committed without its answer arriving. Mails that no trigger caused are not notifications.
 *
 * @param hour in which they were sent (`sentHour`)
 */
export async function countSent(trx: OutboxTransaction, ids: readonly string[], hour: number): Promise<void> {
  const counts = await trx
    .selectFrom('outbox_messages')
    .select(({ fn }) => ['organization_id', 'channel', fn.countAll<number | string>().as('sent')])
    .where('id', 'in', ids)
    .where('state', '!=', 'delivered')
    .where('trigger_name', '!=', '')
    // A notification that is sent again on request was counted the first time.
    .where(({ or, eb, not, exists, selectFrom }) =>
      or([
        eb('retried_at', 'is', null),
        not(
          exists(
            selectFrom('outbox_attempts')
              .select('attempt')
              .whereRef('message_id', '=', 'outbox_messages.id')
              .whereRef('attempt', '<=', 'outbox_messages.attempts')
              .where('outcome', '=', 'accepted'),
          ),
        ),
      ]),
    )
    .groupBy(['organization_id', 'channel'])
    .execute();
  if (counts.length === 0) return;
  await trx
    .insertInto('notification_usage')
    .values(
      counts.map(({ organization_id, channel, sent }) => ({
        organization_id,
        hour,
        type: channel,
        sent: Number(sent),
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'hour', 'type'])
        .doUpdateSet(({ ref }) => ({ sent: sql<number>`notification_usage.sent + ${ref('excluded.sent')}` })),
    )
    .execute();
}

/**
 * Notifications of an organization that were sent in each hour. Half open: startMs ≤ hour < endMs.
 *
 * @throws data_loss when a count was altered, or rows of its days are missing
 */
export async function sentNotifications(
  db: OutboxDatabase,
  startMs: number,
  endMs: number,
  organizationId: string,
): Promise<readonly { readonly hour: number; readonly quantity: number }[]> {
  const rows = await readProvenHours(db, notificationUsage, organizationId, startMs, endMs);
  // Of all types together.
  const sent = new Map<number, number>();
  for (const [, hour, , count] of rows) sent.set(Number(hour), (sent.get(Number(hour)) ?? 0) + Number(count));
  return [...sent].map(([hour, quantity]) => ({ hour, quantity }));
}

/**
 * Limits how many mails a recipient gets, and merges the excess: ten at once, then one every six minutes, for each organization. Further
 * notifications wait until the next mail is allowed, which then contains all of them. So every notification is sent, with a delay of at
 * most six minutes unless there are very many.
 *
 * The set of notifications in a merged mail is stored before it is sent and does not change between attempts, so that its Message-ID, which
 * is derived from the set, identifies one content: a server that drops repeated ids loses nothing.
 */
import { chunks } from '@platform/base';
import type { GatheredMessage } from '../channel.ts';
import { isEnvelopeRight } from '../envelope.ts';
import { messageId } from '../message-id.ts';
import type { OutboxDatabase, OutboxMessageRow, OutboxTransaction } from '../store.ts';

export const mailsAtOnce = 10;
export const mailIntervalMs = 360_000;
/** Maximum notifications in one mail. */
const maxGathered = 2_000;
const rowsPerStatement = 500;

// Without the event: only a few events are shown.
const columns = [
  ...(['id', 'channel', 'organization_id', 'part_id', 'target', 'application', 'digest', 'trigger_name'] as const),
  ...(['event_type', 'event_at', 'state', 'attempts', 'next_attempt_at', 'created_at', 'finished_at'] as const),
  ...(['retried_attempts', 'retried_at', 'urgency', 'envelope_check'] as const),
] as const;

/** @param row due @returns the notifications of the next mail; empty: they wait */
export async function gatherMails(
  db: OutboxDatabase,
  row: OutboxMessageRow,
  nowMs: number,
): Promise<readonly GatheredMessage[]> {
  if (row.urgency === 'now') return [row];
  if (row.digest !== null) return await stored(db, row, row.digest);
  if (row.attempts > row.retried_attempts) return [row];
  return await db.transaction().execute(async (trx) => {
    const waitMs = await takePlace(trx, row, nowMs);
    if (waitMs > 0) {
      await hold(trx, row, nowMs + waitMs);
      return [];
    }
    return row.next_attempt_at > (row.retried_at ?? row.created_at) ? await merge(trx, row) : [row];
  });
}

/** Milliseconds until a mail to the recipient is allowed. 0: allowed now, and counted. */
async function takePlace(trx: OutboxTransaction, row: OutboxMessageRow, nowMs: number): Promise<number> {
  const recipient = row.target.toLowerCase();
  const found = await trx
    .selectFrom('outbox_mail_rates')
    .select('next_free_at')
    .where('organization_id', '=', row.organization_id)
    .where('recipient', '=', recipient)
    .executeTakeFirst();
  // If the clock is set back, the recipient must not be silenced for longer than the limit itself would.
  const latest = nowMs + mailsAtOnce * mailIntervalMs;
  const nextFreeAt = Math.min(Math.max(found?.next_free_at ?? 0, nowMs), latest);
  const waitMs = nextFreeAt - (mailsAtOnce - 1) * mailIntervalMs - nowMs;
  if (waitMs > 0) return waitMs;
  const next_free_at = nextFreeAt + mailIntervalMs;
  await trx
    .insertInto('outbox_mail_rates')
    .values({ organization_id: row.organization_id, recipient, next_free_at })
    .onConflict((conflict) => conflict.columns(['organization_id', 'recipient']).doUpdateSet({ next_free_at }))
    .execute();
  return 0;
}

/** Notifications never tried, or not since someone requested them again, that belong to no mail. */
function untried(trx: OutboxTransaction, { organization_id, target, urgency }: OutboxMessageRow) {
  return trx
    .selectFrom('outbox_messages')
    .where('organization_id', '=', organization_id)
    .where('target', '=', target)
    .where('state', '=', 'pending')
    .where('channel', '=', 'email')
    .where('urgency', '=', urgency)
    .whereRef('attempts', '=', 'retried_attempts')
    .where('digest', 'is', null);
}

async function hold(trx: OutboxTransaction, row: OutboxMessageRow, untilMs: number): Promise<void> {
  await trx
    .updateTable('outbox_messages')
    .set({ next_attempt_at: untilMs })
    .where('id', 'in', untried(trx, row).select('id').where('next_attempt_at', '<', untilMs))
    .execute();
}

async function merge(trx: OutboxTransaction, row: OutboxMessageRow): Promise<readonly GatheredMessage[]> {
  const found = await untried(trx, row).select(columns).orderBy('event_at').orderBy('id').limit(maxGathered).execute();
  const waiting = found.filter(isEnvelopeRight);
  if (waiting.length <= 1) return [row];
  const ids = waiting.map(({ id }) => id);
  const digest = messageId(ids);
  for (const some of chunks(ids, rowsPerStatement))
    await trx.updateTable('outbox_messages').set({ digest }).where('id', 'in', some).execute();
  return waiting.map((one) => ({ ...one, digest }));
}

async function stored(
  db: OutboxDatabase,
  { organization_id, target }: OutboxMessageRow,
  digest: string,
): Promise<GatheredMessage[]> {
  const rows = await db
    .selectFrom('outbox_messages')
    .select(columns)
    .where('organization_id', '=', organization_id)
    .where('target', '=', target)
    .where('state', '=', 'pending')
    .where('digest', '=', digest)
    .orderBy('event_at')
    .orderBy('id')
    .execute();
  return rows.filter(isEnvelopeRight);
}

/** Deletes rate rows that no longer limit anything. */
export async function pruneMailRates(db: OutboxDatabase, nowMs: number): Promise<void> {
  await db.deleteFrom('outbox_mail_rates').where('next_free_at', '<', nowMs).execute();
}

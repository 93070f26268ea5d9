/**
 * Decides which notifications go into one mail, and when (D45). All limits are for a recipient, in all organizations together; a mail is
 * from one organization.
 *
 * - Data: 15 mails at once, then one every four minutes, so that no hour has more than 30. Further notifications wait until the next mail is
 *   allowed, which lists all of them. If several organizations wait, the one whose notification is the oldest comes first.
 * - Notices (status, offline, failures): the first five of a minute are sent at once. If there are more, all that are not sent yet wait for
 *   one mail that lists them, which is sent 50 s after the first of that minute; the last 10 s are for the mail server. Such a mail begins
 *   another minute, whose notices wait in the same way.
 *
 * The two are delivered independently of each other (`lanes` of the channel), so that notices never wait for data.
 *
 * The set of a mail, also of one notification, is stored before it is sent (`digest`) and does not change while the server may have taken
 * it, so that its Message-ID, which is derived from the set, identifies one content: a server that drops repeated ids loses nothing, and
 * after a kill the same mail is sent again. After an attempt that surely was not taken, the set is dissolved: a server that comes back after
 * hours gets one mail, not one for each attempt that failed.
 */
import { chunks } from '@platform/base';
import { sql } from 'kysely';
import type { GatheredMessage } from '../channel.ts';
import { isEnvelopeRight } from '../envelope.ts';
import { messageId } from '../message-id.ts';
import type { OutboxDatabase, OutboxMailRateRow, OutboxMessageRow, OutboxTransaction } from '../store.ts';

export const mailsAtOnce = 15;
export const mailIntervalMs = 240_000;
export const noticesAtOnce = 5;
const noticeWindowMs = 60_000;
/** How long a mail of several notices waits for more of them. */
export const noticesWaitMs = 50_000;
/** How long a mail waits that lets that of another organization go first. */
const stepAsideMs = 1_000;
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
  const { urgency } = row;
  if (urgency === 'now') return [row];
  const { digest } = row;
  if (digest !== null && (urgency === 'notice' || row.attempts === row.retried_attempts))
    return await stored(db, row, digest);
  return await db
    .transaction()
    .execute((trx) => (urgency === 'data' ? gatherData(trx, row, nowMs) : gatherNotices(trx, row, nowMs)));
}

async function gatherData(
  trx: OutboxTransaction,
  row: OutboxMessageRow,
  nowMs: number,
): Promise<readonly GatheredMessage[]> {
  const { next_free_at } = await rateOf(trx, row);
  // If the clock is set back, the recipient must not be silenced for longer than the limit itself would.
  const latest = nowMs + mailsAtOnce * mailIntervalMs;
  const nextFreeAt = Math.min(Math.max(next_free_at, nowMs), latest);
  const waitMs = nextFreeAt - (mailsAtOnce - 1) * mailIntervalMs - nowMs;
  if (waitMs > 0) {
    await holdData(trx, row, nowMs + waitMs);
    return [];
  }
  const oldest = await oldestWaiting(trx, row);
  if (oldest !== undefined && oldest.organization_id !== row.organization_id) {
    await trx.updateTable('outbox_messages').set({ next_attempt_at: nowMs }).where('id', '=', oldest.id).execute();
    await holdData(trx, row, nowMs + stepAsideMs);
    return [];
  }
  await saveRate(trx, row, { next_free_at: nextFreeAt + mailIntervalMs });
  if (row.digest !== null) return await stored(trx, row, row.digest);
  return await merge(trx, row, hasWaited(row) || (oldest && hasWaited(oldest)) ? maxGathered : 1);
}

async function gatherNotices(
  trx: OutboxTransaction,
  row: OutboxMessageRow,
  nowMs: number,
): Promise<readonly GatheredMessage[]> {
  // The server did not take it: all that it did not take go together.
  if (row.attempts > row.retried_attempts) return await merge(trx, row, maxGathered);
  const rate = await rateOf(trx, row);
  const isOver = nowMs < rate.notices_since || nowMs >= rate.notices_since + noticeWindowMs;
  const [since, count] = isOver ? [nowMs, 0] : [rate.notices_since, rate.notices];
  const untilMs = since + noticesWaitMs;
  if (hasWaited(row) || untilMs <= nowMs) {
    await saveRate(trx, row, { notices_since: nowMs, notices: noticesAtOnce });
    return await merge(trx, row, maxGathered);
  }
  const some = await waiting(trx, row)
    .select('id')
    .limit(noticesAtOnce + 1)
    .execute();
  const isFew = count + some.length <= noticesAtOnce;
  await saveRate(trx, row, { notices_since: since, notices: isFew ? count + 1 : noticesAtOnce });
  if (isFew) return await merge(trx, row, 1);
  await hold(trx, row, untilMs);
  return [];
}

type Waiting = Pick<
  OutboxMessageRow,
  'attempts' | 'retried_attempts' | 'next_attempt_at' | 'retried_at' | 'created_at'
>;

/** Whether it was held, or an earlier attempt failed. */
function hasWaited({ attempts, retried_attempts, next_attempt_at, retried_at, created_at }: Waiting): boolean {
  return attempts > retried_attempts || next_attempt_at > (retried_at ?? created_at);
}

type Rate = Pick<OutboxMailRateRow, 'next_free_at' | 'notices_since' | 'notices'>;

const noRate: Rate = { next_free_at: 0, notices_since: 0, notices: 0 };

async function rateOf(trx: OutboxTransaction, { target }: OutboxMessageRow): Promise<Rate> {
  const found = await trx
    .selectFrom('outbox_mail_rates')
    .select(['next_free_at', 'notices_since', 'notices'])
    .where('recipient', '=', target.toLowerCase())
    .executeTakeFirst();
  return found ?? noRate;
}

/** Changes only what is given: mails about data and notices are gathered independently. */
async function saveRate(trx: OutboxTransaction, { target }: OutboxMessageRow, change: Partial<Rate>): Promise<void> {
  await trx
    .insertInto('outbox_mail_rates')
    .values({ recipient: target.toLowerCase(), ...noRate, ...change })
    .onConflict((conflict) => conflict.column('recipient').doUpdateSet(change))
    .execute();
}

/** Notifications to the same person, of the same urgency, that belong to no mail that may have been taken. */
function waiting(trx: OutboxTransaction, { organization_id, target, urgency }: OutboxMessageRow) {
  return ofRecipient(trx, target, urgency).where('organization_id', '=', organization_id);
}

function ofRecipient(trx: OutboxTransaction, target: string, urgency: OutboxMessageRow['urgency']) {
  return (
    trx
      .selectFrom('outbox_messages')
      .where('target', '=', target)
      .where('urgency', '=', urgency)
      // Literals: otherwise SQLite cannot use the partial index.
      .where('channel', '=', sql.lit('email'))
      .where('state', '=', sql.lit('pending'))
      .where('digest', 'is', null)
  );
}

/** The notification to the person that has waited longest, of any organization, except those whose attempts failed. */
async function oldestWaiting(
  trx: OutboxTransaction,
  row: OutboxMessageRow,
): Promise<(Waiting & Pick<OutboxMessageRow, 'id' | 'organization_id'>) | undefined> {
  return await ofRecipient(trx, row.target, row.urgency)
    .select(['id', 'organization_id', 'attempts', 'retried_attempts', 'next_attempt_at', 'retried_at', 'created_at'])
    .whereRef('attempts', '=', 'retried_attempts')
    .orderBy(sql`coalesce(retried_at, created_at)`)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
}

async function hold(trx: OutboxTransaction, row: OutboxMessageRow, untilMs: number): Promise<void> {
  await trx
    .updateTable('outbox_messages')
    .set({ next_attempt_at: untilMs })
    .where('id', 'in', waiting(trx, row).select('id').where('next_attempt_at', '<', untilMs))
    .execute();
}

/** As `hold`, for the mail of the row, too, if it has one. */
async function holdData(trx: OutboxTransaction, row: OutboxMessageRow, untilMs: number): Promise<void> {
  if (row.digest !== null)
    await trx
      .updateTable('outbox_messages')
      .set({ next_attempt_at: untilMs })
      .where('organization_id', '=', row.organization_id)
      .where('target', '=', row.target)
      .where('state', '=', 'pending')
      .where('digest', '=', row.digest)
      .execute();
  await hold(trx, row, untilMs);
}

/** @param most how many notifications the mail may have */
async function merge(trx: OutboxTransaction, row: OutboxMessageRow, most: number): Promise<readonly GatheredMessage[]> {
  const found =
    most === 1 ? [] : await waiting(trx, row).select(columns).orderBy('event_at').orderBy('id').limit(most).execute();
  const right = found.filter(isEnvelopeRight);
  const gathered: readonly GatheredMessage[] = right.length <= 1 ? [row] : right;
  const ids = gathered.map(({ id }) => id);
  const digest = ids.length === 1 ? row.id : messageId(ids);
  for (const some of chunks(ids, rowsPerStatement))
    await trx.updateTable('outbox_messages').set({ digest }).where('id', 'in', some).execute();
  return gathered.map((one) => ({ ...one, digest }));
}

/** The set of a mail that the server may have taken, or that was about to be sent when the process ended. */
async function stored(
  db: OutboxDatabase | OutboxTransaction,
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

/** Deletes rows that no longer limit anything. */
export async function pruneMailRates(db: OutboxDatabase, nowMs: number): Promise<void> {
  await db
    .deleteFrom('outbox_mail_rates')
    .where('next_free_at', '<', nowMs)
    .where('notices_since', '<', nowMs - noticeWindowMs)
    .execute();
}

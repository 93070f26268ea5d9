import type { Transaction } from 'kysely';
import type { Message } from './event.ts';
import type { NotifyMessageRow, NotifyTables } from './store.ts';

// Rows of 15 columns each: well below the 32,766 values that one statement may bind.
const rowsPerStatement = 500;

/** Adds messages to the outbox, due at once; an id that is there already is left as it is (I11). */
export async function enqueue(
  trx: Transaction<NotifyTables>,
  messages: readonly Message[],
  nowMs: number,
): Promise<void> {
  for (let from = 0; from < messages.length; from += rowsPerStatement) {
    const rows = messages.slice(from, from + rowsPerStatement).map((message) => rowOf(message, nowMs));
    await trx
      .insertInto('notify_messages')
      .values(rows)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }
}

function rowOf(message: Message, nowMs: number): NotifyMessageRow {
  const { id, triggerName, notificationType, target, basicAuth, event, eventAtMs } = message;
  return {
    id,
    organization_id: event.place.organizationId,
    part_id: event.place.partId,
    target,
    trigger_name: triggerName,
    trigger_type: event.type,
    notification_type: notificationType,
    authorization: basicAuth
      ? `Basic ${Buffer.from(`${basicAuth.username}:${basicAuth.password}`, 'utf8').toString('base64')}`
      : null,
    event: JSON.stringify(event),
    event_at: eventAtMs,
    state: 'pending',
    attempts: 0,
    next_attempt_at: nowMs,
    created_at: nowMs,
    finished_at: null,
  };
}

import { chunks } from '@platform/base';
import type { Transaction } from 'kysely';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Message } from './event.ts';
import type { OutboxMessageRow, OutboxTables } from './store.ts';

// Rows of 16 columns each: well below the 32,766 values that one statement may bind.
const rowsPerStatement = 500;

/** Adds messages caused by triggers. */
export function enqueue(
  trx: Transaction<OutboxTables>,
  messages: readonly Message[],
  nowMs: number,
  instanceKey: Pick<InstanceKey, 'encrypt'>,
): Promise<void> {
  const rows = messages.map((message) => rowOf(message, instanceKey));
  return insertMessages(trx, rows, nowMs);
}

export type NewMessage = Omit<
  OutboxMessageRow,
  'state' | 'attempts' | 'next_attempt_at' | 'created_at' | 'finished_at'
>;

/** Adds messages to the outbox, due at once; an id that already exists is left unchanged (I11). */
export async function insertMessages(
  trx: Transaction<OutboxTables>,
  messages: readonly NewMessage[],
  nowMs: number,
): Promise<void> {
  const due = { state: 'pending', attempts: 0, next_attempt_at: nowMs, created_at: nowMs, finished_at: null } as const;
  for (const some of chunks(messages, rowsPerStatement)) {
    await trx
      .insertInto('outbox_messages')
      .values(some.map((message) => ({ ...message, ...due })))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }
}

function rowOf(message: Message, instanceKey: Pick<InstanceKey, 'encrypt'>): NewMessage {
  const { id, channel, triggerName, target, basicAuth, event, eventAtMs } = message;
  return {
    id,
    channel,
    organization_id: event.place.organizationId,
    part_id: event.place.partId,
    target,
    trigger_name: triggerName,
    event_type: event.type,
    authorization: null,
    event: JSON.stringify(event),
    sealed: basicAuth ? instanceKey.encrypt(basicAuthorization(basicAuth)) : null,
    event_at: eventAtMs,
  };
}

/** Value of the Authorization header. */
function basicAuthorization({ username, password }: NonNullable<Message['basicAuth']>): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

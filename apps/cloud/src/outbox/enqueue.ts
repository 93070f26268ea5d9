import { chunks } from '@platform/base';
import type { InstanceKey } from '../instance/instance-key.ts';
import { envelopeCheck } from './envelope.ts';
import type { EventPlace, Message } from './event.ts';
import { messageId } from './message-id.ts';
import type { OutboxMessageRow, OutboxTransaction } from './store.ts';
import { urgencyOf } from './urgency.ts';

// Rows of 22 columns each: well below the 32,766 values that one statement may bind.
const rowsPerStatement = 500;

/** The literal used in place of an address: each person who owns the machine, its location or its organization (D19). */
export const allMachineOwners = 'all_machine_owners';

export interface EnqueueDeps {
  readonly instanceKey: Pick<InstanceKey, 'encrypt'>;
  /** Addresses of the people who own the machine, its locations or its organization, without duplicates. */
  ownersOf(trx: OutboxTransaction, place: EventPlace): Promise<readonly string[]>;
}

/** Adds messages caused by triggers. Returns the ids of all of them, whether added or already present. */
export async function enqueue(
  trx: OutboxTransaction,
  messages: readonly Message[],
  nowMs: number,
  { instanceKey, ownersOf }: EnqueueDeps,
): Promise<readonly string[]> {
  const owners = new Map<string, readonly string[]>();
  const rows: NewMessage[] = [];
  for (const message of messages) {
    const { place } = message.event;
    let recipients: readonly string[] = [];
    if (message.target === allMachineOwners) {
      recipients = owners.get(place.robotId) ?? (await ownersOf(trx, place));
      owners.set(place.robotId, recipients);
    }
    // Without any owner the literal stays, and the channel reports that it reaches no one.
    if (recipients.length === 0) rows.push(rowOf(message, instanceKey));
    for (const target of recipients)
      rows.push(rowOf({ ...message, id: messageId([message.id, target]), target }, instanceKey));
  }
  await insertMessages(trx, rows, nowMs);
  return rows.map(({ id }) => id);
}

export type NewMessage = Omit<
  OutboxMessageRow,
  | ('state' | 'attempts' | 'next_attempt_at' | 'created_at' | 'finished_at' | 'digest')
  | ('retried_attempts' | 'retried_at' | 'held' | 'envelope_check')
>;

/** Adds messages to the outbox, due at once; a message whose id already exists does not change (I11). */
export async function insertMessages(
  trx: OutboxTransaction,
  messages: readonly NewMessage[],
  nowMs: number,
): Promise<void> {
  const due = {
    state: 'pending',
    attempts: 0,
    next_attempt_at: nowMs,
    created_at: nowMs,
    finished_at: null,
    digest: null,
    retried_attempts: 0,
    retried_at: null,
    held: 0,
  } as const;
  for (const some of chunks(messages, rowsPerStatement)) {
    await trx
      .insertInto('outbox_messages')
      .values(some.map((message) => ({ ...message, ...due, envelope_check: envelopeCheck(message) })))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }
}

function rowOf(message: Message, instanceKey: Pick<InstanceKey, 'encrypt'>): NewMessage {
  const { id, channel, triggerName, target, application = null, basicAuth, event, eventAtMs } = message;
  return {
    id,
    channel,
    organization_id: event.place.organizationId,
    part_id: event.place.partId,
    target,
    application,
    trigger_name: triggerName,
    event_type: event.type,
    event: JSON.stringify(event),
    sealed: sealedAuthorization(basicAuth, instanceKey),
    event_at: eventAtMs,
    urgency: urgencyOf(event),
  };
}

/** The sealed value of the Authorization header; null: the target needs none. */
export function sealedAuthorization(
  basicAuth: Message['basicAuth'],
  instanceKey: Pick<InstanceKey, 'encrypt'>,
): Uint8Array | null {
  return basicAuth ? instanceKey.encrypt(basicAuthorization(basicAuth)) : null;
}

/** Value of the Authorization header. */
function basicAuthorization({ username, password }: NonNullable<Message['basicAuth']>): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

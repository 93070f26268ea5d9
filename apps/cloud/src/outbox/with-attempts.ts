import type { OutboxAttemptRow, OutboxDatabase } from './store.ts';

interface Tried {
  readonly id: string;
  /** The number of the last attempt when the message was read. */
  readonly tried: number;
}

/**
 * Adds the attempts of each message, in order. Omits attempts that were recorded after the messages were read, because they do not
 * match the states that were read.
 */
export async function withAttempts<Message extends Tried>(
  db: OutboxDatabase,
  messages: readonly Message[],
): Promise<(Omit<Message, 'tried'> & { readonly attempts: readonly OutboxAttemptRow[] })[]> {
  if (messages.length === 0) return [];
  const ids = messages.map(({ id }) => id);
  const rows = await db
    .selectFrom('outbox_attempts')
    .selectAll()
    .where('message_id', 'in', ids)
    .orderBy('attempt')
    .execute();
  const byMessage = Map.groupBy(rows, ({ message_id: id }) => id);
  return messages.map(({ tried, ...message }) => ({
    ...message,
    attempts: (byMessage.get(message.id) ?? []).filter(({ attempt }) => attempt <= tried),
  }));
}

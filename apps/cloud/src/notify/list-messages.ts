import type { Kysely } from 'kysely';
import type { MessageState, NotifyAttemptRow, NotifyTables } from './store.ts';

/** A message without its secrets. Times are wall-clock ms. */
export interface ListedMessage {
  readonly id: string;
  readonly organizationId: string;
  readonly partId: string;
  readonly target: string;
  readonly triggerName: string;
  readonly triggerType: string;
  readonly notificationType: string;
  readonly state: MessageState;
  readonly attempts: readonly NotifyAttemptRow[];
  readonly eventAtMs: number;
  readonly createdAtMs: number;
  /** When it will be sent, while it is pending. */
  readonly nextAttemptAtMs: number;
}

export interface ListFilter {
  readonly partId?: string;
  /** Default 100. */
  readonly limit?: number;
}

// Neither secrets nor the events, which may be large.
const listed = [
  'id',
  'organization_id',
  'part_id',
  'target',
  'trigger_name',
  'trigger_type',
  'notification_type',
  'state',
  'event_at',
  'created_at',
  'next_attempt_at',
] as const;

/** The newest messages first, each with its attempts in order. */
export async function listMessages(db: Kysely<NotifyTables>, filter: ListFilter): Promise<ListedMessage[]> {
  const { partId, limit = 100 } = filter;
  let query = db.selectFrom('notify_messages').select(listed).orderBy('created_at', 'desc').orderBy('id').limit(limit);
  if (partId !== undefined) query = query.where('part_id', '=', partId);
  const messages = await query.execute();
  const attempts = new Map<string, NotifyAttemptRow[]>(messages.map(({ id }) => [id, []]));
  if (messages.length > 0) {
    const rows = await db
      .selectFrom('notify_attempts')
      .selectAll()
      .where('message_id', 'in', [...attempts.keys()])
      .orderBy('attempt')
      .execute();
    for (const row of rows) attempts.get(row.message_id)?.push(row);
  }
  return messages.map((message) => ({
    id: message.id,
    organizationId: message.organization_id,
    partId: message.part_id,
    target: message.target,
    triggerName: message.trigger_name,
    triggerType: message.trigger_type,
    notificationType: message.notification_type,
    state: message.state,
    attempts: attempts.get(message.id) ?? [],
    eventAtMs: message.event_at,
    createdAtMs: message.created_at,
    nextAttemptAtMs: message.next_attempt_at,
  }));
}

import type { Message } from './event.ts';
import type { ChannelName, MessageState, OutboxAttemptRow, OutboxDatabase } from './store.ts';
import { withAttempts } from './with-attempts.ts';

/** A message without its secrets. Times are wall-clock ms. */
export interface ListedMessage extends Pick<Message, 'id' | 'channel' | 'target' | 'eventAtMs'> {
  /** Empty: the message belongs to no organization. */
  readonly organizationId: string;
  /** Empty: it does not concern a part. */
  readonly partId: string;
  /** Empty: no trigger caused it. */
  readonly triggerName: string;
  /** The type of the trigger or of the mail. */
  readonly eventType: string;
  readonly state: MessageState;
  readonly attempts: readonly OutboxAttemptRow[];
  readonly createdAtMs: number;
  /** While the message is pending: when it will be sent. */
  readonly nextAttemptAtMs: number;
}

export interface ListFilter {
  readonly partId?: string;
  readonly organizationId?: string;
  /**
   * Only messages of this channel that failed or wait for a retry. Reads all messages of the channel, so it suits channels with few
   * messages.
   */
  readonly undeliveredIn?: ChannelName;
  /** Default 100. */
  readonly limit?: number;
}

// Without secrets and contents, which may be large.
const listed = [
  'id',
  'organization_id as organizationId',
  'part_id as partId',
  'target',
  'trigger_name as triggerName',
  'event_type as eventType',
  'channel',
  'state',
  'event_at as eventAtMs',
  'created_at as createdAtMs',
  'next_attempt_at as nextAttemptAtMs',
] as const;

/** The newest messages first, each with its attempts in order. */
export async function listMessages(db: OutboxDatabase, filter: ListFilter): Promise<ListedMessage[]> {
  const { partId, organizationId, undeliveredIn, limit = 100 } = filter;
  let query = db.selectFrom('outbox_messages').select(listed).orderBy('created_at', 'desc').orderBy('id').limit(limit);
  if (partId !== undefined) query = query.where('part_id', '=', partId);
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId);
  if (undeliveredIn !== undefined)
    query = query
      .where('channel', '=', undeliveredIn)
      .where('state', 'in', ['failed', 'pending'])
      .where('attempts', '>', 0);
  return await withAttempts(db, await query.select('attempts as tried').execute());
}

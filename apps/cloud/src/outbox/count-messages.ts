import type { ChannelName, MessageState, OutboxDatabase } from './store.ts';

export interface MessageCounts {
  readonly delivered: number;
  /** In the test inbox only. */
  readonly kept: number;
  /** To be sent now or later. */
  readonly pending: number;
  /** Given up. */
  readonly failed: number;
}

/** Counting stops here in each state, because frequent polling must not read a whole outbox. */
export const countedAtMost = 10_000;

/** Counts the messages of one channel by state. */
export async function countMessages(db: OutboxDatabase, channel: ChannelName): Promise<MessageCounts> {
  const count = async (state: MessageState): Promise<number> => {
    const some = db
      .selectFrom('outbox_messages')
      .select('state')
      .where('channel', '=', channel)
      .where('state', '=', state)
      .limit(countedAtMost)
      .as('some');
    const { found } = await db
      .selectFrom(some)
      .select(({ fn }) => fn.countAll<number>().as('found'))
      .executeTakeFirstOrThrow();
    return found;
  };
  return {
    ...{ delivered: await count('delivered'), kept: await count('kept') },
    ...{ pending: await count('pending'), failed: await count('failed') },
  };
}

import type { Kysely } from 'kysely';
import type { ChannelName, MessageState, OutboxTables } from './store.ts';

export interface MessageCounts {
  readonly delivered: number;
  /** To be sent now or later. */
  readonly pending: number;
  /** Nothing more is tried. */
  readonly failed: number;
}

/** No state is counted further: who looks every second must not read a whole outbox. */
export const countedAtMost = 10_000;

/** Messages of one channel by what became of them. */
export async function countMessages(db: Kysely<OutboxTables>, channel: ChannelName): Promise<MessageCounts> {
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
  return { delivered: await count('delivered'), pending: await count('pending'), failed: await count('failed') };
}

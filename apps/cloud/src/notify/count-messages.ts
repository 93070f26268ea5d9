import type { Kysely } from 'kysely';
import type { MessageState, NotifyTables } from './store.ts';

export interface MessageCounts {
  readonly delivered: number;
  /** To be sent now or later. */
  readonly pending: number;
  /** No state is counted further: who looks every second must not read a whole outbox. */
  readonly atMost: number;
}

const atMost = 10_000;

export async function countMessages(db: Kysely<NotifyTables>): Promise<MessageCounts> {
  const count = async (state: MessageState): Promise<number> => {
    const some = db.selectFrom('notify_messages').select('state').where('state', '=', state).limit(atMost).as('some');
    const { found } = await db
      .selectFrom(some)
      .select(({ fn }) => fn.countAll<number>().as('found'))
      .executeTakeFirstOrThrow();
    return found;
  };
  return { delivered: await count('delivered'), pending: await count('pending'), atMost };
}

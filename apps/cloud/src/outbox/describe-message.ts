import { type Fact, factsOf, readingText } from './describe-event.ts';
import type { TriggerEvent } from './event.ts';
import { summaryOf } from './in-words.ts';
import type { OutboxDatabase } from './store.ts';

/** A notification's event, for display. */
export interface Described {
  readonly partId: string;
  readonly triggerName: string;
  readonly atMs: number;
  readonly summary: string;
  readonly facts: readonly Fact[];
  /** Empty: the event has no reading. */
  readonly reading: string;
}

/** undefined: the message does not exist, has no event, or is damaged. */
export async function describedMessage(db: OutboxDatabase, id: string): Promise<Described | undefined> {
  const row = await db
    .selectFrom('outbox_messages')
    .select(['part_id', 'trigger_name', 'event', 'event_at'])
    .where('id', '=', id)
    .where('event', '!=', '')
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const event: TriggerEvent = JSON.parse(row.event);
  return {
    ...{ partId: row.part_id, triggerName: row.trigger_name, atMs: row.event_at },
    ...{ summary: summaryOf(event), facts: factsOf(event), reading: readingText(event) },
  };
}

import { type Fact, factsOf, readingText } from './describe-event.ts';
import type { TriggerEvent } from './event.ts';
import { summaryOf, timeInText } from './in-words.ts';
import type { OutboxDatabase } from './store.ts';

/** A notification's event, for display. */
export interface Described {
  readonly partId: string;
  readonly triggerName: string;
  /** When it happened. */
  readonly time: string;
  readonly summary: string;
  readonly facts: readonly Fact[];
  /** Empty: the event has no reading. */
  readonly reading: string;
}

/**
 * undefined: the message does not exist, has no event, or is damaged.
 * @param zoneOf the reader's time zone, by the organization of the message
 */
export async function describedMessage(
  db: OutboxDatabase,
  id: string,
  zoneOf: (organizationId: string) => Promise<string>,
): Promise<Described | undefined> {
  const row = await db
    .selectFrom('outbox_messages')
    .select(['organization_id', 'part_id', 'trigger_name', 'event', 'event_at'])
    .where('id', '=', id)
    .where('event', '!=', '')
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const event: TriggerEvent = JSON.parse(row.event);
  const zone = await zoneOf(row.organization_id);
  return {
    ...{ partId: row.part_id, triggerName: row.trigger_name, time: timeInText(row.event_at, zone) },
    ...{ summary: summaryOf(event, zone), facts: factsOf(event, zone), reading: readingText(event, zone) },
  };
}

/** For tests of presence: the notifications that its transitions cause, in the real outbox. */
import { silentLog } from '@platform/base';
import type { Database } from '../../../metadata/tables.ts';
import { enqueue } from '../../../outbox/enqueue.ts';
import { noSecrets } from '../../../outbox/testing/open-outbox.ts';
import { createPartTransitions } from '../../../triggers/part-transitions.ts';
import type { Presence, PresenceDeps } from '../presence.ts';

const place = {
  organizationId: 'o',
  organizationName: 'Acme',
  locationId: 'l',
  locationName: 'hall',
  robotId: 'm',
  robotName: 'press',
  partId: 'p',
  partName: 'press-main',
};
const hook = (name: string, type: string) => ({
  name,
  event: { type },
  notifications: [{ type: 'webhook', value: `https://example.com/${name}` }],
});
const configured = {
  triggers: [hook('on', 'part_online'), hook('off', 'part_offline')],
  components: [],
  revision: '1',
};

/** Effects that enqueue notifications for both transitions into the real outbox. */
export function notifying(nowMs: () => number): PresenceDeps['onTransitions'] {
  return createPartTransitions({
    configOf: async () => configured,
    placeOf: (partId) => ({ ...place, partId }),
    outbox: { enqueue: (trx, messages) => enqueue(trx, messages, nowMs(), noSecrets), wake: () => {} },
    log: silentLog,
  });
}

/** Runs the steps that are due. */
export async function settled(presence: Presence): Promise<void> {
  while (await presence.step());
}

/** Part, event and time of each message, sorted. */
export async function enqueued(db: Database): Promise<string[]> {
  const rows = await db.selectFrom('outbox_messages').select(['part_id', 'event_type', 'event_at']).execute();
  return rows.map((row) => `${row.part_id} ${row.event_type} ${row.event_at}`).sort();
}

import { silentLog } from '@platform/base';
import { expect, test } from 'vitest';
import { openFirstAccount } from '../accounts/testing/open-first-account.ts';
import type { Transition } from '../machines/presence/presence.ts';
import type { Database } from '../metadata/tables.ts';
import { enqueue } from '../outbox/enqueue.ts';
import type { TriggerEvent } from '../outbox/event.ts';
import { noSecrets } from '../outbox/testing/open-outbox.ts';
import { webhookRequest } from '../outbox/webhook/webhook-request.ts';
import { createPartTransitions, type TransitionNotifications } from './part-transitions.ts';

const place = {
  organizationId: 'o1',
  organizationName: 'Acme',
  locationId: 'l1',
  locationName: 'hall',
  robotId: 'm1',
  robotName: 'press',
  partId: 'p1',
  partName: 'press-main',
};
const trigger = (name: string, type: string, overrides: object = {}) => ({
  name,
  event: { type },
  notifications: [{ type: 'webhook', value: `https://example.com/${name}`, seconds_between_notifications: 3_600 }],
  ...overrides,
});

interface Given {
  readonly db: Database;
  readonly decide: (transitions: readonly Transition[]) => Promise<TransitionNotifications>;
  woken(): number;
  /** `<trigger> <type>` of every message in the outbox. */
  enqueued(): Promise<string[]>;
}

async function given(triggers: readonly unknown[]): Promise<Given> {
  const { db } = await openFirstAccount();
  let woken = 0;
  const decide = createPartTransitions({
    configOf: async (partId) => (partId === 'gone' ? undefined : { triggers, components: [], revision: '1' }),
    placeOf: (partId) => (partId === 'moved' ? undefined : place),
    outbox: { enqueue: (trx, messages) => enqueue(trx, messages, 1_000, noSecrets), wake: () => void woken++ },
    log: silentLog,
  });
  return {
    db,
    decide,
    woken: () => woken,
    async enqueued() {
      const rows = await db.selectFrom('outbox_messages').select(['trigger_name', 'event_type']).execute();
      return rows.map((row) => `${row.trigger_name} ${row.event_type}`).sort();
    },
  };
}

const online: Transition = { partId: 'p1', number: 1, kind: 'online', atMs: 900 };
const offline: Transition = { partId: 'p1', number: 2, kind: 'offline', atMs: 950 };

const record = async ({ db, decide }: Given, transitions: readonly Transition[]): Promise<void> => {
  const effects = await decide(transitions);
  await db.transaction().execute((trx) => effects.record(trx));
  effects.committed();
};

test('D17 a transition notifies the enabled triggers of its kind, regardless of an interval', async () => {
  const rig = await given([
    trigger('on', 'part_online'),
    trigger('off', 'part_offline'),
    trigger('quiet', 'part_online', { disabled: true }),
  ]);
  await record(rig, [online, offline, { ...online, number: 3, atMs: 960 }]);
  expect(await rig.enqueued()).toEqual(['off part_offline', 'on part_online', 'on part_online']);
  expect(rig.woken()).toBe(1);
});

test('D17 a transition that is decided twice is enqueued once', async () => {
  const rig = await given([trigger('on', 'part_online')]);
  await record(rig, [online]);
  await record(rig, [online]);
  expect(await rig.enqueued()).toEqual(['on part_online']);
});

test('a transition is counted once in the history, even if it is recorded again', async () => {
  const rig = await given([trigger('on', 'part_online'), trigger('off', 'part_offline')]);
  for (const transitions of [[online], [online], [offline], [{ ...online, number: 3 }]]) await record(rig, transitions);
  const rows = await rig.db
    .selectFrom('trigger_history')
    .select(['trigger_name', 'organization_id', 'count'])
    .execute();
  expect(rows.map((row) => `${row.organization_id} ${row.trigger_name} ${row.count}`).sort()).toEqual([
    'o1 off 1',
    'o1 on 2',
  ]);
});

test('D17 a transition whose transaction fails sends no notification', async () => {
  const rig = await given([trigger('on', 'part_online')]);
  const effects = await rig.decide([online]);
  const failed = rig.db.transaction().execute(async (trx) => {
    await effects.record(trx);
    throw new Error('rolled back');
  });
  await expect(failed).rejects.toThrow('rolled back');
  expect(await rig.enqueued()).toEqual([]);
  expect(rig.woken()).toBe(0);
});

test('parts without triggers, deleted parts and broken triggers cause no notification and block no others', async () => {
  const rig = await given(['broken']);
  await record(rig, [online, { ...online, partId: 'gone' }, { ...online, partId: 'moved' }]);
  expect(await rig.enqueued()).toEqual([]);
});

test('D22 the request is GET without body, with the ids and names of organization, location and machine', async () => {
  const rig = await given([trigger('on', 'part_online')]);
  await record(rig, [online]);
  const { event, event_at } = await rig.db.selectFrom('outbox_messages').selectAll().executeTakeFirstOrThrow();
  expect(event_at).toBe(900);
  expect(webhookRequest(JSON.parse(event) as TriggerEvent)).toEqual({
    method: 'GET',
    body: '',
    headers: {
      'Org-Id': 'o1',
      'Organization-Name': 'Acme',
      'Location-Id': 'l1',
      'Location-Name': 'hall',
      'Part-Id': 'p1',
      'Robot-Id': 'm1',
      'Machine-Name': 'press',
    },
  });
});

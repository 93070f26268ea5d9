/** What `triggers list` says about the targets of triggers (D45). */
import { systemClock } from '@platform/base';
import { TargetState, TriggerService, TriggerState } from '@platform/proto/platform/app/v1/triggers';
import { expect, test } from 'vitest';
import type { Channel, SendResult } from '../outbox/channel.ts';
import type { TriggerEvent } from '../outbox/event.ts';
import { messageId } from '../outbox/message-id.ts';
import { until } from '../outbox/testing/open-outbox.ts';
import { online, openTriggerService, type TriggerServiceOverrides } from './testing/open-trigger-service.ts';

const { listTriggers, pauseTarget } = TriggerService.method;
const url = 'https://example.com/hook';
const mailed = { ...online, notifications: [{ type: 'email', value: 'all_machine_owners' }] };

/** A channel that answers as it is told. @param answer by target */
function answering(answer: (target: string) => SendResult): Channel {
  return {
    ...{ maxInFlight: 4, maxPerTarget: 1 },
    send: async ({ target }) => answer(target),
    waitMs: () => 3_600_000,
    [Symbol.dispose]: () => {},
  };
}

async function open(overrides: TriggerServiceOverrides = {}) {
  const given = await openTriggerService(overrides);
  const { db, outbox, call, save, owner, partId, organizationId } = given;
  await save(partId, { triggers: [{ ...online, notifications: [{ type: 'webhook', value: url }] }] });
  let count = 0;
  return {
    ...given,
    async fire(channel: 'webhook' | 'email' = 'webhook', target = url): Promise<void> {
      const place = { organizationId, organizationName: 'O', locationId: 'l', locationName: 'L', robotId: 'r' };
      const event: TriggerEvent = { type: 'part_online', place: { ...place, robotName: 'R', partId, partName: 'P' } };
      const before = await db.selectFrom('outbox_attempts').select('message_id').execute();
      await db
        .transaction()
        .execute((trx) =>
          outbox.enqueue(trx, [
            { id: messageId([count++]), triggerName: 'online', channel, target, event, eventAtMs: systemClock.now() },
          ]),
        );
      outbox.wake();
      await until(async () => {
        const pending = await db.selectFrom('outbox_messages').select('id').where('attempts', '=', 0).execute();
        return pending.length === 0;
      });
      expect((await db.selectFrom('outbox_attempts').select('message_id').execute()).length).toBeGreaterThan(
        before.length,
      );
    },
    async shown() {
      const { triggers } = await call(owner, listTriggers, { scope: { case: 'partId', value: partId } });
      return triggers[0];
    },
  };
}

test('D45 triggers in trouble are found among those parts alone whose targets did not get the last notification', async () => {
  let answer: SendResult = { outcome: 'accepted' };
  const { fire, call, owner, organizationId, outbox } = await open({ channels: { webhook: answering(() => answer) } });
  await using _outbox = outbox;
  outbox.start();
  const inTrouble = async () => {
    const request = { scope: { case: 'organizationId', value: organizationId }, inTrouble: true } as const;
    return (await call(owner, listTriggers, request)).triggers.map(({ name, state }) => [name, state]);
  };
  await fire();
  expect(await inTrouble()).toEqual([]);
  answer = { outcome: 'rejected', code: 404, error: 'not here' };
  await fire();
  expect(await inTrouble()).toEqual([['online', TriggerState.REFUSED]]);
  answer = { outcome: 'accepted' };
  await fire();
  expect(await inTrouble()).toEqual([]);
});

test('D45 a trigger stands as working, failing or refused by its last attempt, and says why; a target that alternates does, too', async () => {
  let answer: SendResult = { outcome: 'accepted' };
  const { fire, shown, outbox } = await open({ channels: { webhook: answering(() => answer) } });
  await using _outbox = outbox;
  expect(await shown()).toMatchObject({
    state: TriggerState.WORKING,
    notifications: [{ state: TargetState.UNSPECIFIED, lastDeliveryId: '' }],
  });
  outbox.start();
  for (const _round of [1, 2]) {
    answer = { outcome: 'accepted' };
    await fire();
    const working = await shown();
    expect(working).toMatchObject({
      state: TriggerState.WORKING,
      notifications: [{ state: TargetState.DELIVERED, reason: '', lastDeliveryId: expect.stringMatching(/^msg_/) }],
    });
    answer = { outcome: 'retryLater', error: 'answered 503' };
    await fire();
    const failing = await shown();
    expect(failing).toMatchObject({
      state: TriggerState.FAILING,
      notifications: [{ state: TargetState.FAILING, reason: 'answered 503' }],
    });
    expect(failing?.notifications[0]?.lastDeliveredAt).toEqual(working?.notifications[0]?.lastDeliveredAt);
    answer = { outcome: 'rejected', error: 'answered 404' };
    await fire();
    expect(await shown()).toMatchObject({
      state: TriggerState.REFUSED,
      notifications: [{ state: TargetState.REFUSED, reason: 'answered 404' }],
    });
  }
});

test('D45 a trigger whose notifications are kept says so before it fires and after, and no longer once they can be sent', async () => {
  let keeps: string | undefined = 'no mail server is configured';
  const { save, partId, fire, shown, outbox } = await open({
    channels: {
      email: answering(() => (keeps === undefined ? { outcome: 'accepted' } : { outcome: 'accepted', kept: keeps })),
    },
    keptBecause: async () => keeps,
    ownersOf: async () => ['ada@example.com'],
  });
  await using _outbox = outbox;
  await save(partId, { triggers: [mailed] });
  const kept = { state: TargetState.KEPT, reason: 'no mail server is configured' };
  expect(await shown()).toMatchObject({ state: TriggerState.KEPT, notifications: [kept] });
  outbox.start();
  await fire('email', 'all_machine_owners');
  const shownAfter = await shown();
  expect(shownAfter).toMatchObject({ state: TriggerState.KEPT, notifications: [kept] });
  expect(shownAfter?.notifications[0]?.lastDeliveredAt).toBeUndefined();
  keeps = undefined;
  expect(await shown()).toMatchObject({
    state: TriggerState.WORKING,
    notifications: [{ state: TargetState.UNSPECIFIED }],
  });
  await fire('email', 'all_machine_owners');
  expect(await shown()).toMatchObject({
    state: TriggerState.WORKING,
    notifications: [{ state: TargetState.DELIVERED }],
  });
});

test('D45 all_machine_owners stands as the owner for whom it is worst; one who is no longer an owner does not count', async () => {
  let owners = ['ada@example.com', 'ben@example.com'];
  const { save, partId, fire, shown, outbox } = await open({
    channels: {
      email: answering((target) =>
        target.startsWith('ben') ? { outcome: 'rejected', error: 'no such mailbox' } : { outcome: 'accepted' },
      ),
    },
    ownersOf: async () => owners,
  });
  await using _outbox = outbox;
  await save(partId, { triggers: [mailed] });
  outbox.start();
  await fire('email', 'all_machine_owners');
  expect(await shown()).toMatchObject({ state: TriggerState.REFUSED, notifications: [{ reason: 'no such mailbox' }] });
  owners = ['ada@example.com'];
  await fire('email', 'all_machine_owners');
  expect((await shown())?.state).toBe(TriggerState.WORKING);
});

test('D45 a target that this installation would refuse, or that is paused, stands on the trigger before it fires', async () => {
  // Which loopback targets are refused depends on the organization (D43).
  const refused = await open({ targetRefusal: async (_url, organizationId) => `refused for ${organizationId}` });
  expect(await refused.shown()).toMatchObject({
    state: TriggerState.REFUSED,
    notifications: [{ state: TargetState.REFUSED, reason: `refused for ${refused.organizationId}` }],
  });
  await refused.outbox[Symbol.asyncDispose]();
  const { call, owner, organizationId, partId, shown, outbox } = await open();
  await using _outbox = outbox;
  await call(owner, pauseTarget, { organizationId, target: url, reason: 'it moves' });
  expect(await shown()).toMatchObject({
    state: TriggerState.PAUSED,
    notifications: [{ state: TargetState.PAUSED, reason: 'it moves' }],
  });
  const scope = { case: 'partId', value: partId } as const;
  const count = async (...states: TriggerState[]) =>
    (await call(owner, listTriggers, { scope, states })).triggers.length;
  expect([await count(TriggerState.PAUSED, TriggerState.KEPT), await count(TriggerState.WORKING)]).toEqual([1, 0]);
});

/** Deliveries are found by machine, trigger, time and text, counted, and say why they wait (D45). */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  DeliveryState,
  type ListDeliveriesRequestSchema,
  TriggerService,
} from '@platform/proto/platform/app/v1/triggers';
import { expect, test } from 'vitest';
import type { Channel, SendResult } from '../outbox/channel.ts';
import { insertMessages, type NewMessage } from '../outbox/enqueue.ts';
import { until } from '../outbox/testing/open-outbox.ts';
import { online, openTriggerService } from './testing/open-trigger-service.ts';

const { getDelivery, listDeliveries, pauseTarget, testTrigger } = TriggerService.method;
const url = 'https://example.com/hook';

async function open(overrides: Parameters<typeof openTriggerService>[0] = {}) {
  const given = await openTriggerService(overrides);
  const { db, call, owner, organizationId, partId } = given;
  return {
    ...given,
    async insert(id: string, atMs: number, more: Partial<NewMessage> = {}): Promise<void> {
      const place = { organizationId, organizationName: 'O', locationId: 'l', locationName: 'L', robotId: 'r' };
      const event = { type: 'part_online', place: { ...place, robotName: 'Gone', partId, partName: 'main' } };
      const message: NewMessage = {
        ...{ id: `msg_${id}`, channel: 'webhook', organization_id: organizationId, part_id: partId, target: url },
        ...{ application: null, trigger_name: 'online', event_type: 'part_online', event: JSON.stringify(event) },
        ...{ sealed: null, event_at: atMs, urgency: 'notice', ...more },
      };
      await db.transaction().execute((trx) => insertMessages(trx, [message], atMs));
    },
    async list(request: MessageInitShape<typeof ListDeliveriesRequestSchema> = {}) {
      const scope = { case: 'organizationId', value: organizationId } as const;
      return await call(owner, listDeliveries, { scope, withCounts: true, ...request });
    },
  };
}

const wordOf = (state: DeliveryState | undefined): string =>
  Object.entries(DeliveryState).find(([, value]) => value === state)?.[0] ?? '';
const ids = ({ deliveries }: { readonly deliveries: readonly { readonly id: string }[] }): string[] =>
  deliveries.map(({ id }) => id.slice(4));
const counts = (answer: {
  readonly counts: readonly { readonly state: DeliveryState; readonly deliveries: number }[];
}) => Object.fromEntries(answer.counts.map(({ state, deliveries }) => [wordOf(state), deliveries]));

test('D45 deliveries name machine and trigger, and are found by machine, trigger, time and text, with counts of every state', async () => {
  const { insert, list, registry, db, locationId, machineId, partId } = await open();
  const twin = await registry.register(locationId, 'Ofen — ΠΊΕΣΗ', 2);
  await insert('a', 1_000);
  await insert('b', 2_000, { part_id: twin.partId, trigger_name: 'heiß' });
  await insert('c', 3_000, { channel: 'email', target: 'ada@example.com' });
  await db.updateTable('outbox_messages').set({ state: 'kept' }).where('id', '=', 'msg_c').execute();
  const all = await list();
  expect(ids(all)).toEqual(['c', 'b', 'a']);
  expect(all.deliveries[1]).toMatchObject({
    machineId: twin.machineId,
    machineName: 'Ofen — ΠΊΕΣΗ',
    partName: 'Ofen — ΠΊΕΣΗ-main',
  });
  expect([counts(all), all.countsArePartial]).toEqual([{ PENDING: 2, KEPT: 1 }, false]);
  for (const [text, found] of [
    ['ofen', ['b']],
    ['πίεση', ['b']],
    ['HEISS', []],
    ['HEIß', ['b']],
    ['ADA@', ['c']],
    ['msg_a', ['a']],
    ['part_on', ['c', 'b', 'a']],
    ['nothing', []],
  ] as const) {
    const answer = await list({ text });
    expect(ids(answer)).toEqual(found);
    expect(Object.values(counts(answer)).reduce((sum, one) => sum + one, 0)).toBe(found.length);
  }
  const kept = await list({ states: [DeliveryState.KEPT] });
  expect([ids(kept), counts(kept)]).toEqual([['c'], { PENDING: 2, KEPT: 1 }]);
  expect(ids(await list({ scope: { case: 'machineId', value: machineId } }))).toEqual(['c', 'a']);
  expect(ids(await list({ scope: { case: 'partId', value: partId }, triggerName: 'heiß' }))).toEqual([]);
  expect(ids(await list({ start: timestampFromMs(1_500), end: timestampFromMs(2_500) }))).toEqual(['b']);
  await expect(list({ text: 'x'.repeat(300) })).rejects.toThrow(/text: expected at most 256 characters/);
});

test('D45 names from right to left and of 10 kB are found; pages of a search are complete', async () => {
  const { insert, list, registry, locationId } = await open();
  const long = await registry.register(locationId, `${'x'.repeat(10_000)} מכונה`, 2);
  for (let n = 0; n < 7; n++) await insert(`x${n}`, 1_000 + n, n % 2 === 0 ? { part_id: long.partId } : {});
  const found: string[] = [];
  let pageToken = '';
  do {
    const page = await list({ text: 'מכונה', limit: 1, pageToken });
    found.push(...ids(page));
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  expect(found).toEqual(['x6', 'x4', 'x2', 'x0']);
});

test('D45 the delivery of a deleted part shows the name that its machine had', async () => {
  const { insert, call, owner } = await open();
  await insert('a', 1_000, { part_id: 'deleted' });
  expect((await call(owner, getDelivery, { id: 'msg_a' })).delivery).toMatchObject({
    machineId: '',
    machineName: 'Gone',
  });
});

/** @param answer of each attempt */
function answering(answer: () => SendResult | Promise<SendResult>, more: Partial<Channel> = {}): Channel {
  return {
    ...{ maxInFlight: 4, maxPerTarget: 1, ...more },
    send: async () => await answer(),
    waitMs: () => 3_600_000,
    [Symbol.dispose]: () => {},
  };
}

test('D45 a delivery that waits says why, and when it is tried next', async () => {
  let answer: () => SendResult | Promise<SendResult> = () => ({ outcome: 'retryLater', error: 'answered 503' });
  const webhook = answering(() => answer(), { breaksCircuits: true });
  const on = await open({ channels: { webhook } });
  const { insert, call, owner, organizationId, outbox } = on;
  await using _outbox = outbox;
  const waits = async (id: string) => (await call(owner, getDelivery, { id: `msg_${id}` })).delivery;
  await insert('a', 1_000);
  await insert('p', 1_000, { channel: 'push' });
  expect((await waits('a'))?.waitsBecause).toBe('it is due, and is sent in a moment');
  expect((await waits('p'))?.waitsBecause).toBe('this installation sends nothing by push');
  outbox.start();
  await until(async () => (await waits('a'))?.waitsBecause.startsWith('the last attempt') === true);
  const failed = await waits('a');
  expect(failed).toMatchObject({ state: DeliveryState.PENDING, waitsBecause: 'the last attempt failed: answered 503' });
  expect(Number(failed?.nextAttemptAt?.seconds)).toBeGreaterThan(Number(failed?.attempts[0]?.at?.seconds) + 3_500);

  // Five failures in a row open the circuit of the target.
  for (const n of [1, 2, 3, 4, 5]) await insert(`f${n}`, 1_000 + n);
  outbox.wake();
  await until(async () => (await waits('f4'))?.attempts.length === 1);
  expect((await waits('f5'))?.waitsBecause).toContain('its target keeps failing');

  const hanging = Promise.withResolvers<SendResult>();
  answer = () => hanging.promise;
  await insert('h', 1_000, { target: 'https://example.com/hangs' });
  await insert('i', 1_000, { target: 'https://example.com/hangs' });
  outbox.wake();
  await until(async () => (await waits('h'))?.waitsBecause === 'it is being sent');
  expect((await waits('i'))?.waitsBecause).toBe('its target is busy with earlier messages');
  hanging.resolve({ outcome: 'accepted' });
  await until(async () => (await waits('i'))?.state === DeliveryState.DELIVERED);
  expect(await waits('i')).toMatchObject({ waitsBecause: '', finishedAt: expect.anything() });

  await insert('w', 1_000, { target: 'https://example.com/later' });
  await outbox.pause(organizationId, 'https://example.com/later', 'it moves');
  await until(async () => (await waits('w'))?.state === DeliveryState.PAUSED);
  expect((await waits('w'))?.waitsBecause).toBe('its target is paused: it moves');
  await expect(call(owner, pauseTarget, { organizationId, target: 'https://example.com/x' })).rejects.toThrow();
});

test.each([
  [{ outcome: 'accepted', code: 200 }, 'DELIVERED'],
  [{ outcome: 'accepted', kept: 'no mail server' }, 'KEPT'],
  [{ outcome: 'rejected', error: 'answered 404', code: 404 }, 'FAILED'],
  [{ outcome: 'retryLater', error: 'answered 503', code: 503 }, 'PENDING'],
] as const)('D45 a test answers with the outcome of its attempt: %j is %s', async (answer, state) => {
  const { call, save, owner, partId, outbox } = await open({ channels: { webhook: answering(() => answer) } });
  await using _outbox = outbox;
  await save(partId, { triggers: [online] });
  outbox.start();
  const { deliveryIds, deliveries } = await call(owner, testTrigger, {
    partId,
    trigger: { case: 'name', value: 'online' },
  });
  expect(deliveries).toMatchObject([{ id: deliveryIds[0], triggerName: 'online', attempts: [{ number: 1 }] }]);
  expect(wordOf(deliveries[0]?.state)).toBe(state);
});

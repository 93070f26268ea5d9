import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DeliveryState, TriggerService, TriggerState } from '@platform/proto/platform/app/v1/triggers';
import { expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { insertMessages, type NewMessage } from '../outbox/enqueue.ts';
import { hot, online, openTriggerService, oven } from './testing/open-trigger-service.ts';

const { listTriggers, listDeliveries, getDelivery, retryDelivery, replayDeliveries } = TriggerService.method;
const { listPausedTargets, pauseTarget, resumeTarget } = TriggerService.method;
test('triggers are listed as parsed and without secrets; a removed component breaks only its own triggers', async () => {
  const { call, save, owner, partId } = await openTriggerService();
  const scope = { case: 'partId', value: partId } as const;
  await save(partId, { components: [oven], triggers: [hot, { ...online, disabled: true }] });
  const { triggers } = await call(owner, listTriggers, { scope });
  expect(triggers.map(({ name, state, path }) => [name, state, path])).toEqual([
    ['hot', TriggerState.WORKING, 'triggers[0]'],
    ['online', TriggerState.DISABLED, 'triggers[1]'],
  ]);
  expect(triggers[0]).toMatchObject({ partId, eventType: 'conditional_data_ingested', event: hot.event });
  expect(triggers[0]?.notifications).toMatchObject([
    { channel: 'webhook', target: 'https://example.com/hook', intervalSeconds: 60, hasBasicAuth: true },
  ]);
  expect(JSON.stringify(triggers)).not.toMatch(/pw-1815|t0ken-of-hook|pass/);

  await save(partId, { components: [], triggers: [hot, online] });
  const { triggers: after } = await call(owner, listTriggers, { scope });
  expect(after.map(({ name, state }) => [name, state])).toEqual([
    ['hot', TriggerState.BROKEN],
    ['online', TriggerState.WORKING],
  ]);
  expect(after[0]?.problems).toMatchObject([
    { severity: 'error', path: 'triggers[0].event.conditional.data_capture_method' },
  ]);
  const broken = await call(owner, listTriggers, { scope, states: [TriggerState.BROKEN] });
  expect(broken.triggers.map(({ name }) => name)).toEqual(['hot']);
  expect((await call(owner, listTriggers, { scope, name: 'online' })).triggers).toHaveLength(1);
});

test('triggers of an organization come in pages, only for parts that the caller operates', async () => {
  const { call, save, owner, key, registry, organizationId, locationId, machineId, partId } =
    await openTriggerService();
  const twin = await registry.register(locationId, 'twin', 2);
  for (const id of [partId, twin.partId])
    await save(id, { triggers: [online, { ...online, name: 'b' }, { ...online, name: 'c' }] });
  const all = async (principal: Principal, limit: number): Promise<string[]> => {
    const found: string[] = [];
    let pageToken = '';
    do {
      const scope = { case: 'organizationId', value: organizationId } as const;
      const page = await call(principal, listTriggers, { scope, limit, pageToken });
      found.push(...page.triggers.map((one) => `${one.machineName} ${one.name}`));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    return found;
  };
  const whole = await all(owner, 100);
  expect(whole).toHaveLength(6);
  expect(await all(owner, 1)).toEqual(whole);
  expect(await all(owner, 4)).toEqual(whole);
  const ofTwin = key('operator', { robotId: twin.machineId });
  expect(await all(ofTwin, 2)).toEqual(['twin online', 'twin b', 'twin c']);
  const forbidden = { case: 'machineId', value: machineId } as const;
  await expect(call(ofTwin, listTriggers, { scope: forbidden })).rejects.toMatchObject({ code: 'not_found' });
  await expect(call(owner, listTriggers, {})).rejects.toThrow(/expected one of organization_id, location_id/);
});

test('deliveries are shown with request, response and attempts, without secrets, to operators of the part', async () => {
  const { call, db, instanceKey, owner, key, organizationId, locationId, partId } = await openTriggerService();
  const place = { organizationId, organizationName: 'O', locationId, locationName: 'L', robotId: 'r', robotName: 'R' };
  const event = { type: 'part_online', place: { ...place, partId, partName: 'main' } };
  const message: NewMessage = {
    ...{ id: 'msg_a', channel: 'webhook', organization_id: organizationId, part_id: partId, application: null },
    ...{
      target: 'https://ada:pass@example.com/hook?token=t0ken-of-hook',
      trigger_name: 'online',
      event_type: 'part_online',
    },
    ...{
      event: JSON.stringify(event),
      sealed: instanceKey.encrypt('Basic c2VjcmV0'),
      event_at: 1_000,
      urgency: 'notice',
    },
  };
  await db
    .transaction()
    .execute((trx) => insertMessages(trx, [message, { ...message, id: 'msg_b', part_id: 'deleted' }], 2_000));
  const attempt = { message_id: 'msg_a', attempt: 1, at: 5, duration_ms: 7, response: 'come back later' };
  await db
    .insertInto('outbox_attempts')
    .values({ ...attempt, outcome: 'retryLater', code: 503, error: 'answered 503' })
    .execute();
  await db.updateTable('outbox_messages').set({ attempts: 1 }).where('id', '=', 'msg_a').execute();
  const scope = { case: 'organizationId', value: organizationId } as const;
  const first = await call(owner, listDeliveries, { scope, limit: 1 });
  const { deliveries } = await call(owner, listDeliveries, { scope, pageToken: first.nextPageToken });
  expect([...first.deliveries, ...deliveries].map(({ id }) => id)).toEqual(['msg_b', 'msg_a']);
  expect(deliveries[0]).toMatchObject({
    ...{ id: 'msg_a', partId, triggerName: 'online', channel: 'webhook', target: 'https://example.com/hook' },
    state: DeliveryState.PENDING,
    attempts: [{ number: 1, durationMs: 7, outcome: 'retry-later', code: 503, response: 'come back later' }],
  });
  const shown = await call(owner, getDelivery, { id: 'msg_a' });
  expect(shown.request).toMatchObject({ method: 'GET', headers: { 'Part-Id': partId, 'webhook-id': 'msg_a' } });
  expect(JSON.stringify([deliveries, shown], (_key, one) => (typeof one === 'bigint' ? `${one}` : one))).not.toMatch(
    /t0ken-of-hook|pass|c2VjcmV0/,
  );

  // Deliveries of a deleted part are shown to operators of the organization.
  const ofLocation = key('operator', { locationId });
  const seen = await call(ofLocation, listDeliveries, { scope });
  expect(seen.deliveries.map(({ id }) => id)).toEqual(['msg_a']);
  await expect(call(ofLocation, getDelivery, { id: 'msg_b' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(call(ofLocation, getDelivery, { id: 'msg_c' })).rejects.toMatchObject({ code: 'not_found' });
  expect((await call(owner, getDelivery, { id: 'msg_b' })).delivery?.id).toBe('msg_b');
  await expect(call({ kind: 'part', partId }, getDelivery, { id: 'msg_a' })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('invalid filters and page tokens are refused with what is expected', async () => {
  const { call, owner, organizationId } = await openTriggerService();
  const scope = { case: 'organizationId', value: organizationId } as const;
  await expect(call(owner, listDeliveries, { scope, channels: ['fax'] })).rejects.toThrow(
    'ListDeliveries: channels[0]: expected one of webhook, email, push, found "fax"',
  );
  await expect(call(owner, listDeliveries, { scope, states: [0] })).rejects.toThrow(/states\[0\]: expected one of/);
  await expect(call(owner, listDeliveries, { scope, pageToken: 'x' })).rejects.toThrow(/page_token/);
  await expect(call(owner, listTriggers, { scope, pageToken: 'x' })).rejects.toThrow(/page_token/);
});

test('owners send deliveries again, with the password that the trigger has now; it is audited', async () => {
  const { call, save, db, instanceKey, owner, key, organizationId, locationId, partId } = await openTriggerService();
  await save(partId, { components: [oven], triggers: [hot] });
  const message: NewMessage = {
    ...{ id: 'msg_a', channel: 'webhook', organization_id: organizationId, part_id: partId, application: null },
    ...{ target: hot.notifications[0]?.value ?? '', trigger_name: 'hot', event_type: 'conditional_data_ingested' },
    ...{ event: '{}', sealed: null, event_at: 1_000, urgency: 'notice' },
  };
  const other = { ...message, id: 'msg_b', target: 'https://example.com/before' };
  await db.transaction().execute((trx) => insertMessages(trx, [message, other], 2_000));
  await db.updateTable('outbox_messages').set({ state: 'failed', finished_at: 3_000 }).execute();
  const { delivery } = await call(owner, retryDelivery, { id: 'msg_a' });
  expect(delivery).toMatchObject({ id: 'msg_a', state: DeliveryState.PENDING });
  const { sealed } = await db
    .selectFrom('outbox_messages')
    .select('sealed')
    .where('id', '=', 'msg_a')
    .executeTakeFirstOrThrow();
  expect(instanceKey.decrypt(sealed ?? new Uint8Array())).toBe(`Basic ${btoa('ada:pw-1815')}`);

  const ofLocation = key('operator', { locationId });
  await expect(call(ofLocation, retryDelivery, { id: 'msg_b' })).rejects.toMatchObject({ code: 'permission_denied' });
  const scope = { case: 'partId', value: partId } as const;
  const range = { scope, start: timestampFromMs(1_000) };
  await expect(call(ofLocation, replayDeliveries, range)).rejects.toMatchObject({ code: 'permission_denied' });
  expect((await call(owner, replayDeliveries, { ...range, dryRun: true })).deliveries).toBe(1);
  expect((await call(owner, replayDeliveries, range)).deliveries).toBe(1);
  expect((await call(owner, replayDeliveries, range)).deliveries).toBe(0);
  await expect(call(owner, replayDeliveries, { scope })).rejects.toThrow(/start: expected the beginning/);
  const states = [DeliveryState.PENDING];
  await expect(call(owner, replayDeliveries, { ...range, states })).rejects.toThrow(/states\[0\]: expected/);

  const audited = await db.selectFrom('audit_entries').select(['action', 'target_id', 'detail']).execute();
  expect(audited.filter(({ action }) => action.startsWith('TriggerService.'))).toMatchObject([
    { action: 'TriggerService.RetryDelivery', target_id: 'msg_a' },
    { action: 'TriggerService.ReplayDeliveries', target_id: partId, detail: expect.stringContaining('"deliveries":1') },
    { action: 'TriggerService.ReplayDeliveries' },
  ]);
});

test('a target is paused by its URL, without secret parts unless several begin alike', async () => {
  const { call, save, owner, organizationId, partId } = await openTriggerService();
  const twins = ['b?token=1', 'b?token=2'].map((end) => ({ type: 'webhook', value: `https://example.com/${end}` }));
  await save(partId, { components: [oven], triggers: [hot, { ...online, notifications: twins }] });
  const pause = (target: string) => call(owner, pauseTarget, { organizationId, target });
  expect((await pause('https://example.com/hook')).target).toMatchObject({
    ...{ target: 'https://example.com/hook', waiting: 0 },
    reason: 'paused by an owner of the organization',
  });
  await expect(pause('https://example.com/b')).rejects.toThrow(/because several begin like this/);
  await pause('https://example.com/b?token=2');
  await expect(pause('https://example.com/c?token=3')).rejects.toThrow(/found "https:\/\/example.com\/c"/);
  const { targets } = await call(owner, listPausedTargets, { organizationId });
  expect(targets.map(({ target }) => target).sort()).toEqual(['https://example.com/b', 'https://example.com/hook']);
  const resume = (target: string) => call(owner, resumeTarget, { organizationId, target });
  await resume('https://example.com/b');
  await resume('https://example.com/hook?token=t0ken-of-hook');
  await expect(resume('https://example.com/hook')).rejects.toMatchObject({ code: 'failed_precondition' });
});

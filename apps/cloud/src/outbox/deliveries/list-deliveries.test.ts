import type { KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import { insertMessages, type NewMessage } from '../enqueue.ts';
import { listMessages } from '../list-messages.ts';
import { type OutboxRig, openOutboxRig } from '../testing/open-outbox.ts';
import { type Delivery, type DeliveryKey, listDeliveries, readDelivery } from './list-deliveries.ts';

const message = (id: string, more: Partial<NewMessage> = {}): NewMessage => ({
  ...{ id: `msg_${id}`, channel: 'webhook', organization_id: 'org', part_id: 'p1', target: 'https://example.com/' },
  ...{ application: null, trigger_name: 'hot', event_type: 'part_online', event: '{}' },
  ...{ sealed: null, event_at: 1, urgency: 'notice' },
  ...more,
});
const insert = ({ db }: OutboxRig, atMs: number, ...messages: NewMessage[]): Promise<void> =>
  db.transaction().execute((trx) => insertMessages(trx, messages, atMs));
const ids = (found: readonly Delivery[]): string[] => found.map(({ id }) => id.slice(4));

test('deliveries are listed newest first, by part, trigger, state, channel and time, never those of another organization', async () => {
  const rig = await openOutboxRig();
  await insert(rig, 1_000, message('a'), message('b', { part_id: 'p2', trigger_name: 'cold' }));
  await insert(rig, 2_000, message('c', { channel: 'email' }), message('x', { organization_id: 'other' }));
  await insert(rig, 3_000, message('d', { part_id: 'p3' }), message('mail', { trigger_name: '' }));
  await rig.db.updateTable('outbox_messages').set({ state: 'failed' }).where('id', '=', 'msg_b').execute();
  const list = async (filter: object, partIds?: readonly string[]) =>
    ids(await listDeliveries(rig.db, { organizationId: 'org', partIds, ...filter }, 10));
  expect(await list({})).toEqual(['d', 'c', 'b', 'a']);
  expect(await list({}, ['p1', 'p2'])).toEqual(['c', 'b', 'a']);
  expect(await list({}, [])).toEqual([]);
  expect(await list({ triggerName: 'cold' })).toEqual(['b']);
  expect(await list({ states: ['failed', 'delivered'] })).toEqual(['b']);
  expect(await list({ channels: ['email', 'push'] })).toEqual(['c']);
  expect(await list({ startMs: 2_000, endMs: 3_000 })).toEqual(['c']);
  // An organization id combined with parts of another organization finds nothing.
  expect(await list({ organizationId: 'other' }, ['p2'])).toEqual([]);
});

test('the order across pages is total, even if many deliveries were created at the same time or belong to many parts', async () => {
  const rig = await openOutboxRig();
  const parts = Array.from({ length: 60 }, (_, index) => `part-${index}`);
  for (const atMs of [1_000, 2_000])
    await insert(rig, atMs, ...parts.map((part_id) => message(`${part_id}_${atMs}`, { part_id })));
  const all = async (partIds: readonly string[] | undefined): Promise<string[]> => {
    const found: string[] = [];
    let after: DeliveryKey | undefined;
    for (;;) {
      const page = await listDeliveries(rig.db, { organizationId: 'org', partIds }, 7, after);
      found.push(...ids(page));
      const last = page.at(-1);
      if (last === undefined) return found;
      after = { createdAtMs: last.created_at, id: last.id };
    }
  };
  const expected = ids(await listDeliveries(rig.db, { organizationId: 'org', partIds: undefined }, 1_000));
  expect(expected).toHaveLength(120);
  expect(await all(undefined)).toEqual(expected);
  expect(await all(parts)).toEqual(expected);
  expect(await all(parts.slice(0, 3))).toEqual(expected.filter((id) => /^part-[012]_/.test(id)));
});

test('a delivery is found by its id, with its attempts in order, only in organizations of the caller', async () => {
  const rig = await openOutboxRig();
  await insert(rig, 1_000, message('a'), message('mail', { trigger_name: '' }));
  const attempt = { message_id: 'msg_a', at: 5, duration_ms: 1, code: 500, error: 'no', response: null } as const;
  for (const number of [2, 1])
    await rig.db
      .insertInto('outbox_attempts')
      .values({ ...attempt, attempt: number, outcome: 'retryLater' })
      .execute();
  await rig.db.updateTable('outbox_messages').set({ attempts: 2 }).where('id', '=', 'msg_a').execute();
  const found = await readDelivery(rig.db, 'msg_a', ['other', 'org']);
  expect(found?.attempts.map((one) => one.attempt)).toEqual([1, 2]);
  expect(found?.event).toBe('{}');
  expect(await readDelivery(rig.db, 'msg_a', ['other'])).toBeUndefined();
  expect(await readDelivery(rig.db, 'msg_a', [])).toBeUndefined();
  expect(await readDelivery(rig.db, 'msg_mail', ['org'])).toBeUndefined();
});

test('state and attempts are consistent: an attempt recorded while a delivery is read is not shown with the earlier state', async () => {
  const rig = await openOutboxRig();
  await insert(rig, 1_000, message('a'));
  const attempt = { message_id: 'msg_a', attempt: 1, at: 5, duration_ms: 1, outcome: 'accepted' } as const;
  // Records the attempt after the message has been read, and before its attempts are.
  const meanwhile: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (result.rows[0]?.['state'] === 'pending')
        await rig.db.transaction().execute(async (trx) => {
          await trx
            .insertInto('outbox_attempts')
            .values({ ...attempt, code: 200, error: null, response: null })
            .execute();
          await trx.updateTable('outbox_messages').set({ attempts: 1, state: 'delivered' }).execute();
        });
      return result;
    },
  };
  const pendingAgain = async (): Promise<void> => {
    await rig.db.deleteFrom('outbox_attempts').execute();
    await rig.db.updateTable('outbox_messages').set({ attempts: 0, state: 'pending' }).execute();
  };
  const db = rig.db.withPlugin(meanwhile);
  const filter = { organizationId: 'org', partIds: undefined };
  for (const read of [
    () => readDelivery(db, 'msg_a', ['org']),
    async () => (await listDeliveries(db, filter, 10))[0],
    async () => (await listMessages(db, {}))[0],
  ]) {
    expect(await read()).toMatchObject({ state: 'pending', attempts: [] });
    expect(await read()).toMatchObject({ state: 'delivered', attempts: [{ attempt: 1 }] });
    await pendingAgain();
  }
});

/** Messages that could not be tried: when they are given up, and how that is reported. */
import { expect, test } from 'vitest';
import { storeKinds } from '../../metadata/testing/test-store.ts';
import { retryDeliveries } from '../deliveries/retry-deliveries.ts';
import type { Outbox } from '../feature.ts';
import { messageId } from '../message-id.ts';
import {
  attemptsIn,
  enqueueWebhooks,
  type OutboxOverrides,
  type OutboxRig,
  openOutboxRig,
  statesIn,
  until,
} from '../testing/open-outbox.ts';
import { webhookMessage } from '../testing/webhook-message.ts';
import { scheduleMs } from '../webhook/classify.ts';
import { Backlog } from './backlog.ts';

const hourMs = 3_600_000;

test.each(storeKinds)(
  'messages due for 27 hours and never tried are given up, with one line for many; others wait (%s)',
  async (kind) => {
    const on = await openOutboxRig(kind);
    const { outbox, target } = await waiting(on, 700);
    const beforeMs = on.clock.now() - scheduleMs;
    await setDue(on, 1, 600, beforeMs - 1);
    outbox.start();
    await until(() => on.sink.requests.length > 0);
    await on.clock.advance(hourMs - 1_000);
    expect(await given(on)).toBe(0);
    await passes(on, outbox, 1_000, async () => (await overdueIn(on, beforeMs)) === 0);
    // All except those that the circuit let through as trials.
    const rows = await on.db.selectFrom('outbox_attempts').selectAll().where('outcome', '=', 'rejected').execute();
    expect(new Set(rows.map(({ attempt, code, error }) => `${attempt} ${code} ${error}`))).toEqual(
      new Set([
        '1 null not tried for 27 hours, because the target kept failing or was always busy; given up: retry or replay it when the target works',
      ]),
    );
    expect(
      await on.db
        .selectFrom('outbox_messages')
        .select('id')
        .where('held', '=', 1)
        .where('state', '!=', 'pending')
        .execute(),
    ).toEqual([]);
    const counts = on.lines.flatMap(({ line }) =>
      line.fields['messages'] === undefined ? [] : [Number(line.fields['messages'])],
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(rows.length);
    expect(counts.length).toBeLessThanOrEqual(2);
    const younger = await on.db
      .selectFrom('outbox_messages')
      .select('state')
      .where('id', 'in', ids(601, 700))
      .execute();
    expect(new Set(younger.map(({ state }) => state))).toEqual(new Set(['pending']));

    // Like any failed message, one is sent again with its id and with all attempts available.
    const id = String(rows[0]?.message_id);
    on.sink.answerWith({ status: 200 });
    await on.db.transaction().execute((trx) => retryDeliveries(trx, [{ id, sealed: null }], on.clock.now()));
    await passes(on, outbox, 10_000, async () => (await stateOf(on, id)) === 'delivered');
    expect(on.sink.requests.some(({ headers, path }) => headers['webhook-id'] === id && target.endsWith(path))).toBe(
      true,
    );
  },
);

test.each(storeKinds)(
  'messages of a deleted organization to a target that is down are cancelled, not given up (%s)',
  async (kind) => {
    const on = await openOutboxRig(kind);
    let exists = true;
    const { outbox } = await waiting(on, 20, { organizationExists: () => exists });
    await setDue(on, 1, 20, on.clock.now() - scheduleMs - 1);
    outbox.start();
    await until(async () => (await attemptsIn(outbox)) >= 5);
    exists = false;
    await on.clock.advance(hourMs - 1_000);
    await passes(on, outbox, 1_000, async () => (await statesIn(outbox)).every((state) => state === 'cancelled'));
  },
);

test.each(storeKinds)('overdue messages that are being sent are not given up (%s)', async (kind) => {
  const on = await openOutboxRig(kind);
  await waiting(on, 3);
  await setDue(on, 1, 3, on.clock.now() - scheduleMs - 1);
  const backlog = await loaded(on);
  const overdue = await backlog.overdue(scheduleMs, () => new Set(ids(2, 2)));
  expect(overdue.map(({ id }) => id).toSorted()).toEqual(
    ids(1, 3)
      .filter((_, n) => n !== 1)
      .toSorted(),
  );
});

test.each(storeKinds)(
  'a message whose attempt ends during the search for overdue ones is not among them (%s)',
  async (kind) => {
    const on = await openOutboxRig(kind);
    await waiting(on, 2);
    await setDue(on, 1, 2, on.clock.now() - scheduleMs - 1);
    const backlog = await loaded(on);
    const sending = new Set(ids(1, 1));
    const searching = backlog.overdue(scheduleMs, () => new Set(sending));
    sending.clear();
    expect((await searching).map(({ id }) => id)).toEqual(ids(2, 2));
  },
);

test.each(storeKinds)(
  'for an hour after a start, and after a clock that jumped, nothing is given up (%s)',
  async (kind) => {
    const on = await openOutboxRig(kind);
    await waiting(on, 3);
    const backlog = new Backlog('webhook', on);
    await backlog.load();
    const overdue = async () => (await backlog.overdue(scheduleMs, () => new Set())).length;
    expect(await overdue()).toBe(0);
    await on.clock.advance(hourMs);
    expect(await overdue()).toBe(0);
    // By this clock they are overdue.
    on.clock.setWall(on.clock.now() + scheduleMs + hourMs);
    expect(await overdue()).toBe(0);
    await on.clock.advance(hourMs - 1);
    expect(await overdue()).toBe(0);
    await on.clock.advance(1);
    expect(await overdue()).toBe(3);
  },
);

function ids(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, n) => messageId(['test', from + n]));
}

/** Creates messages that are held for a target that answers 503. */
async function waiting(on: OutboxRig, count: number, overrides: OutboxOverrides = {}) {
  const target = `${on.sink.url}/test-inbox/webhooks/down`;
  on.sink.answerWith({ status: 503 });
  const outbox = on.open(overrides);
  const messages = Array.from({ length: count }, (_, n) => webhookMessage(n + 1, target));
  await enqueueWebhooks(on, outbox, ...messages);
  await on.db.updateTable('outbox_messages').set({ held: 1 }).execute();
  return { outbox, target };
}

async function setDue({ db }: OutboxRig, from: number, to: number, atMs: number): Promise<void> {
  await db.updateTable('outbox_messages').set({ next_attempt_at: atMs }).where('id', 'in', ids(from, to)).execute();
}

/** A backlog whose first hour is over. */
async function loaded(on: OutboxRig): Promise<Backlog> {
  const backlog = new Backlog('webhook', on);
  await backlog.load();
  expect(await backlog.overdue(scheduleMs, () => new Set())).toEqual([]);
  await on.clock.advance(hourMs);
  return backlog;
}

async function stateOf({ db }: OutboxRig, id: string): Promise<string | undefined> {
  return (await db.selectFrom('outbox_messages').select('state').where('id', '=', id).executeTakeFirst())?.state;
}

/** Advances the clock until the condition holds, by less than a request may take, and only while no request is in progress. */
async function passes(
  { clock, sending }: OutboxRig,
  outbox: Outbox,
  stepMs: number,
  holds: () => Promise<boolean>,
): Promise<void> {
  await until(async () => {
    if (sending() === 0) await clock.advance(stepMs);
    outbox.wake();
    return await holds();
  });
}

async function overdueIn({ db }: OutboxRig, beforeMs: number): Promise<number> {
  const query = db.selectFrom('outbox_messages').select('id').where('next_attempt_at', '<', beforeMs);
  return (await query.where('state', '=', 'pending').execute()).length;
}

async function given({ db }: OutboxRig): Promise<number> {
  return (await db.selectFrom('outbox_messages').select('id').where('state', '=', 'failed').execute()).length;
}

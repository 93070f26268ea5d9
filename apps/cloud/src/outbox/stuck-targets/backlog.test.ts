/** Messages that wait for targets without room: they do not delay others, and are never forgotten. */
import { CompiledQuery, sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import type { Database } from '../../metadata/tables.ts';
import { storeKinds } from '../../metadata/testing/test-store.ts';
import { retryDeliveries } from '../deliveries/retry-deliveries.ts';
import type { Outbox } from '../feature.ts';
import { messageId } from '../message-id.ts';
import { enqueueWebhooks, type OutboxRig, openOutboxRig, statesIn, stopAll, until } from '../testing/open-outbox.ts';
import { webhookMessage } from '../testing/webhook-message.ts';
import { Backlog } from './backlog.ts';

const places = 4;

test.each(storeKinds)(
  'messages waiting for a target that hangs are held, and delivered once when it answers (%s)',
  async (kind) => {
    const on = await openOutboxRig(kind);
    const hangs = hanging(on);
    const outbox = on.open();
    outbox.start();
    await enqueueWebhooks(on, outbox, ...numbered(1, 20, hangs.target));
    await heldAre(on, outbox, 20);
    await enqueueWebhooks(
      on,
      outbox,
      ...numbered(21, 30, hangs.target),
      ...numbered(31, 40, `${on.sink.url}/test-inbox/webhooks/well`),
    );
    await until(async () => (await statesIn(outbox)).filter((state) => state === 'delivered').length === 10);
    await heldAre(on, outbox, 30);
    hangs.answer();
    await until(async () => (await statesIn(outbox)).every((state) => state === 'delivered'));
    const got = on.sink.requests.filter(({ path }) => path === '/test-inbox/webhooks/hangs');
    expect(got.map(({ headers }) => String(headers['webhook-id'])).toSorted()).toEqual(
      numbered(1, 30, '')
        .map(({ id }) => id)
        .toSorted(),
    );
    expect(await heldIn(on.db)).toBe(0);
    // Nothing of the backlog is left: the next message needs no query of held ones.
    await enqueueWebhooks(on, outbox, webhookMessage(50, hangs.target));
    await until(async () => (await statesIn(outbox)).every((state) => state === 'delivered'));
  },
);

test.each(storeKinds)('the query for due messages reads none of those that are held (%s)', async (kind) => {
  const on = await openOutboxRig(kind);
  const hangs = hanging(on);
  const outbox = on.open();
  outbox.start();
  await enqueueWebhooks(on, outbox, ...numbered(1, 1_500, hangs.target));
  await heldAre(on, outbox, 1_500);
  const notHeld = await on.db
    .selectFrom('outbox_messages')
    .select('id')
    .where('state', '=', 'pending')
    .where('held', '=', 0)
    .execute();
  expect(notHeld).toEqual([]);
  if (kind !== 'sqlite') return;
  const { rows } = await on.db.executeQuery<{ detail: string }>(
    CompiledQuery.raw(
      "explain query plan select id, organization_id, target from outbox_messages where channel = ? and state = ? and held = ? and next_attempt_at <= ? and target not in ('a') order by next_attempt_at limit 256",
      ['webhook', 'pending', 0, 1],
    ),
  );
  expect(rows.map(({ detail }) => detail).join()).toBe(
    'SEARCH outbox_messages USING COVERING INDEX outbox_messages_due (channel=? AND state=? AND held=? AND next_attempt_at<?)',
  );
});

test.each(storeKinds)(
  'held messages come in the order in which they were due, and only when they are due (%s)',
  async (kind) => {
    const on = await openOutboxRig(kind);
    const outbox = on.open();
    const start = on.clock.now();
    for (const n of [3, 1, 2]) {
      on.clock.setWall(start + n);
      await enqueueWebhooks(on, outbox, webhookMessage(n, 'https://example.com/'));
    }
    await on.db.updateTable('outbox_messages').set({ held: 1 }).execute();
    const backlog = new Backlog('webhook', on);
    await backlog.load();
    const due = await backlog.due(() => true, 1, 10);
    expect(due.map(({ id }) => id)).toEqual([messageId(['test', 1]), messageId(['test', 2])]);
  },
);

test.each(storeKinds)(
  'I11 messages held when the process ended are delivered by the next process, even if the clock was set back (%s)',
  async (kind) => {
    const on = await openOutboxRig(kind);
    const hangs = hanging(on);
    const first = on.open();
    first.start();
    await enqueueWebhooks(on, first, ...numbered(1, 20, hangs.target));
    await heldAre(on, first, 20);
    await stopAll(on.clock, [first]);
    hangs.answer();
    const now = on.clock.now();
    on.clock.setWall(now - 3_600_000);
    const second = on.open();
    second.start();
    await enqueueWebhooks(on, second, webhookMessage(21, `${on.sink.url}/test-inbox/webhooks/well`));
    await until(async () => (await statesIn(second)).includes('delivered'));
    on.clock.setWall(now);
    await until(async () => {
      second.wake();
      return (await statesIn(second)).every((state) => state === 'delivered');
    });
  },
);

test.each(storeKinds)(
  'messages are no longer held once their target is paused, it answers, or someone requests them again (%s)',
  async (kind) => {
    const on = await openOutboxRig(kind);
    const hangs = hanging(on);
    const outbox = on.open();
    outbox.start();
    await enqueueWebhooks(on, outbox, ...numbered(1, 8, hangs.target));
    await heldAre(on, outbox, 8);
    // A message that has been taken but not sent yet would be paused too.
    await on.sink.waitFor(places);
    await outbox.pause('org', hangs.target, 'maintenance');
    hangs.answer();
    await until(async () => (await statesIn(outbox)).filter((state) => state === 'delivered').length === places);
    expect(await heldIn(on.db)).toBe(8 - places);
    await outbox.resume('org', hangs.target);
    await until(async () => (await statesIn(outbox)).every((state) => state === 'delivered'));
    expect(await heldIn(on.db)).toBe(0);

    // As left by a process that ended while recording them.
    await on.db.updateTable('outbox_messages').set({ held: 1 }).execute();
    await on.db
      .transaction()
      .execute((trx) => retryDeliveries(trx, [{ id: messageId(['test', 1]), sealed: null }], on.clock.now()));
    outbox.wake();
    await on.sink.waitFor(9);
    await until(async () => (await statesIn(outbox)).every((state) => state === 'delivered'));
  },
);

function numbered(from: number, to: number, target: string) {
  return Array.from({ length: to - from + 1 }, (_, n) => webhookMessage(from + n, target));
}

/** A target that does not answer until `answer` is called. */
function hanging(on: OutboxRig): { readonly target: string; answer(): void } {
  const answered = Promise.withResolvers<void>();
  on.sink.answerWith(async ({ path }) => {
    if (path === '/test-inbox/webhooks/hangs') await answered.promise;
    return { status: 200 };
  });
  return { target: `${on.sink.url}/test-inbox/webhooks/hangs`, answer: () => answered.resolve() };
}

async function heldIn(db: Database): Promise<number> {
  const { held } = await db
    .selectFrom('outbox_messages')
    .select(sql<number>`count(*)`.as('held'))
    .where('held', '=', 1)
    .executeTakeFirstOrThrow();
  return Number(held);
}

/**
 * Advances the clock, second by second, until that many messages are held. The outbox reads the clock at each query for messages: after the
 * third one all are held, so that no request comes near its 15 s limit.
 */
async function heldAre({ db, clock }: OutboxRig, outbox: Outbox, count: number): Promise<void> {
  using looks = vi.spyOn(clock, 'monotonic');
  while ((await heldIn(db)) !== count) {
    await clock.advance(1_000);
    const before = looks.mock.calls.length;
    outbox.wake();
    await until(() => looks.mock.calls.length > before);
  }
}

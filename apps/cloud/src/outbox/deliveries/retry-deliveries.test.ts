import { startSmtpSink } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { mailIntervalMs, mailsAtOnce } from '../email/gather-mails.ts';
import { attemptsIn, enqueueWebhooks, type OutboxRig, openOutboxRig, statesIn, until } from '../testing/open-outbox.ts';
import { webhookMessage } from '../testing/webhook-message.ts';
import { pausedTargets } from './paused-targets.ts';
import { deliveriesBetween, makeDeliveryDue, retryDeliveries } from './retry-deliveries.ts';

const retry = ({ db, clock }: OutboxRig, ...ids: string[]): Promise<void> =>
  db.transaction().execute((trx) =>
    retryDeliveries(
      trx,
      ids.map((id) => ({ id, sealed: null })),
      clock.now(),
    ),
  );
const usage = async ({ db }: OutboxRig): Promise<number[]> =>
  (await db.selectFrom('notification_usage').select('sent').execute()).map(({ sent }) => Number(sent));

test('a delivery that was given up gets all its attempts again, with the same id, and is counted as sent once', async () => {
  const on = await openOutboxRig();
  const outbox = on.open();
  const message = webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a`);
  await enqueueWebhooks(on, outbox, message);
  const given = { state: 'failed', attempts: 8, finished_at: on.clock.now() } as const;
  await on.db.updateTable('outbox_messages').set(given).execute();
  await retry(on, message.id);
  on.sink.answerWith({ status: 503 });
  outbox.start();
  await until(async () => (await attemptsIn(outbox)) === 1);
  expect((await outbox.list())[0]).toMatchObject({ state: 'pending', attempts: [{ attempt: 9, code: 503 }] });

  on.sink.answerWith({ status: 200 });
  await on.db.transaction().execute((trx) => makeDeliveryDue(trx, message.id, on.clock.now()));
  outbox.wake();
  await until(async () => (await statesIn(outbox))[0] === 'delivered');
  await retry(on, message.id);
  outbox.wake();
  await until(async () => (await attemptsIn(outbox)) === 3 && (await statesIn(outbox))[0] === 'delivered');
  expect(new Set(on.sink.requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([message.id]));
  expect(await usage(on)).toEqual([1]);
});

test('only finished deliveries are sent again: a waiting or cancelled one does not change', async () => {
  const on = await openOutboxRig();
  const outbox = on.open();
  const messages = [1, 2, 3].map((n) => webhookMessage(n, `${on.sink.url}/test-inbox/webhooks/a`));
  await enqueueWebhooks(on, outbox, ...messages);
  const [waiting = '', cancelled = '', failed = ''] = messages.map(({ id }) => id);
  await on.db.updateTable('outbox_messages').set({ state: 'cancelled' }).where('id', '=', cancelled).execute();
  await on.db.updateTable('outbox_messages').set({ state: 'failed', attempts: 2 }).where('id', '=', failed).execute();
  await retry(on, waiting, cancelled, failed);
  const rows = await on.db.selectFrom('outbox_messages').select(['id', 'state', 'retried_attempts']).execute();
  expect(new Map(rows.map(({ id, state, retried_attempts }) => [id, [state, Number(retried_attempts)]]))).toEqual(
    new Map([
      [waiting, ['pending', 0]],
      [cancelled, ['cancelled', 0]],
      [failed, ['pending', 2]],
    ]),
  );
});

test('mails that are sent again respect the rate limit of their recipient', async () => {
  const on = await openOutboxRig();
  const server = await startSmtpSink();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const outbox = on.open({ smtpUrl: server.url });
  const mails = Array.from({ length: mailsAtOnce + 5 }, (_, n) =>
    webhookMessage(n, 'ada@example.com', { channel: 'email' }),
  );
  await enqueueWebhooks(on, outbox, ...mails);
  await on.db.updateTable('outbox_messages').set({ state: 'failed', attempts: 3 }).execute();
  await on.db
    .updateTable('outbox_messages')
    .set({ attempts: 5 })
    .where('id', '=', mails[mailsAtOnce + 4]?.id ?? '')
    .execute();
  await retry(on, ...mails.map(({ id }) => id));
  outbox.start();
  const held = on.db.selectFrom('outbox_messages').select('id').where('next_attempt_at', '>', on.clock.now());
  await until(async () => server.mails.length === mailsAtOnce && (await held.execute()).length === 5);
  await on.clock.advance(mailIntervalMs);
  // A query for due messages may have begun before the last second passed; the next one runs a second of this clock later.
  outbox.wake();
  await until(async () => (await statesIn(outbox)).every((state) => state === 'delivered'));
  expect(server.mails).toHaveLength(mailsAtOnce + 1);
  expect(server.mails.at(-1)?.headers.get('subject')).toContain('5 notifications');
});

test('a paused target gets nothing, its messages are counted, and resuming sends them', async () => {
  const on = await openOutboxRig();
  const outbox = on.open();
  outbox.start();
  const target = `${on.sink.url}/test-inbox/webhooks/a`;
  const other = `${on.sink.url}/test-inbox/webhooks/b`;
  await outbox.pause('org', target, 'it moves');
  await enqueueWebhooks(on, outbox, webhookMessage(1, target), webhookMessage(2, target), webhookMessage(3, other));
  await until(async () => (await statesIn(outbox)).join() === 'delivered,paused,paused');
  expect(on.sink.requests).toHaveLength(1);
  const pausedAtMs = on.clock.now();
  expect(await pausedTargets(on.db, 'org')).toEqual([{ target, pausedAtMs, reason: 'it moves', waiting: 2 }]);
  expect(await pausedTargets(on.db, 'other')).toEqual([]);
  await outbox.resume('org', target);
  await until(async () => (await statesIn(outbox)).every((state) => state === 'delivered'));
  expect(await pausedTargets(on.db, 'org')).toEqual([]);
});

test('what is written together with a pause is written atomically', async () => {
  const on = await openOutboxRig();
  const outbox = on.open();
  const fail = async (): Promise<void> => {
    throw new Error('no audit trail');
  };
  await expect(outbox.pause('org', 'https://example.com/', 'r', fail)).rejects.toThrow('no audit trail');
  expect(await pausedTargets(on.db, 'org')).toEqual([]);
});

test('deliveries of a time range are found oldest first, up to a limit', async () => {
  const on = await openOutboxRig();
  const outbox = on.open();
  const messages = [1, 2, 3].map((n) => webhookMessage(n, 'https://example.com/'));
  for (const message of messages) {
    await enqueueWebhooks(on, outbox, message);
    on.clock.setWall(on.clock.now() + 1_000);
  }
  const found = async (filter: object, limit: number): Promise<string[]> =>
    (await deliveriesBetween(on.db, { organizationId: 'org', partIds: ['part'], ...filter }, limit)).map(
      ({ id }) => id,
    );
  const ids = messages.map(({ id }) => id);
  expect(await found({}, 10)).toEqual(ids);
  expect(await found({ endMs: on.clock.now() - 1_000 }, 10)).toEqual(ids.slice(0, 2));
  expect(await found({}, 1)).toEqual(ids.slice(0, 1));
  expect(await found({ states: ['failed'] }, 10)).toEqual([]);
});

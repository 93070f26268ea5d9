/** Messages of which something other than the cloud changed who gets them. */
import { expect, test } from 'vitest';
import { mailIntervalMs, mailsAtOnce } from './email/gather-mails.ts';
import { openSmtpSink } from './testing/open-mail-rig.ts';
import { attemptsIn, enqueueWebhooks, makeDue, openOutboxRig, statesIn, until } from './testing/open-outbox.ts';
import { webhookMessage } from './testing/webhook-message.ts';

test('D33 a message whose target something else changed is not sent, not even when it is requested again', async () => {
  const on = await openOutboxRig();
  const outbox = on.open();
  await enqueueWebhooks(on, outbox, webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a`));
  const target = `${on.sink.url}/test-inbox/webhooks/stranger`;
  await on.db.updateTable('outbox_messages').set({ target }).execute();
  outbox.start();
  await until(async () => (await statesIn(outbox)).join() === 'failed');
  const [message] = await outbox.list();
  expect(message?.attempts).toMatchObject([
    { outcome: 'rejected', error: `the row of message ${message?.id} in outbox_messages was altered: it was not sent` },
  ]);
  expect(on.logged.join()).toContain('was altered');
  expect(on.lines).toEqual([]);

  await on.db.updateTable('outbox_messages').set({ state: 'pending' }).execute();
  outbox.wake();
  await until(async () => (await attemptsIn(outbox)) === 2);
  expect(on.sink.requests).toEqual([]);
});

test('D33 a mail of many notifications leaves out one that was moved to its recipient; that one fails', async () => {
  const server = await openSmtpSink();
  const on = await openOutboxRig();
  const outbox = on.open({ smtpUrl: server.url });
  outbox.start();
  const mail = (n: number, target: string) => webhookMessage(n, target, { channel: 'email', eventAtMs: n });
  for (const person of ['ada@example.com', 'eve@example.com']) {
    const first = person === 'ada@example.com' ? 0 : 100;
    const all = Array.from({ length: mailsAtOnce + 2 }, (_, n) => mail(first + n, person));
    await enqueueWebhooks(on, outbox, ...all);
  }
  const waiting = on.db
    .selectFrom('outbox_messages')
    .select(['id', 'target'])
    .where('state', '=', 'pending')
    .whereRef('next_attempt_at', '>', 'created_at');
  await until(async () => (await waiting.execute()).length === 4);
  const ofAda = (await waiting.execute()).find(({ target }) => target === 'ada@example.com');
  await on.db
    .updateTable('outbox_messages')
    .set({ target: 'eve@example.com' })
    .where('id', '=', ofAda?.id ?? '')
    .execute();

  on.clock.setWall(on.clock.now() + mailIntervalMs);
  await until(async () => {
    await makeDue(on, outbox);
    return (await statesIn(outbox)).every((state) => state !== 'pending');
  });
  expect((await statesIn(outbox)).filter((state) => state === 'failed')).toHaveLength(1);
  const [failed] = (await outbox.list({ limit: 500 })).filter(({ state }) => state === 'failed');
  expect(failed?.target).toBe('eve@example.com');
  expect(server.mails.slice(2 * mailsAtOnce)).toHaveLength(2);
});

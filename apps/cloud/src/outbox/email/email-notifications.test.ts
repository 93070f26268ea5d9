/** Notifications of triggers by e-mail, with a real database and mail server. */
import { createServer } from 'node:net';
import type { SmtpSink } from '@platform/testkit';
import { expect, test } from 'vitest';
import { retryDeliveries } from '../deliveries/retry-deliveries.ts';
import type { NotificationUsageRow } from '../store.ts';
import { ada, listedIn, mailMessage, openMailRig, openSmtpSink } from '../testing/open-mail-rig.ts';
import {
  enqueueWebhooks,
  makeDue,
  type OutboxRig,
  openOutboxRig,
  statesIn,
  stopAll,
  until,
} from '../testing/open-outbox.ts';
import { setSubscribed } from './unsubscribe.ts';

const usage = async ({ db }: OutboxRig): Promise<NotificationUsageRow[]> =>
  db.selectFrom('notification_usage').select(['organization_id', 'hour', 'type', 'sent']).execute();

test('a notification is mailed once, with branding and one-click unsubscribe, and counted', async () => {
  const server = await openSmtpSink();
  const on = await openMailRig({ smtpUrl: server.url });
  await on.send(mailMessage(1));
  await until(async () => (await statesIn(on.outbox)).join() === 'delivered');
  expect(server.mails).toHaveLength(1);
  const [mail] = server.mails;
  const [listed] = await on.outbox.list();
  expect(mail).toMatchObject({ to: [ada], from: 'cloud@example.com', html: expect.stringContaining('cpu Readings') });
  expect(Object.fromEntries(mail?.headers ?? [])).toMatchObject({
    subject: 'Robot: cpu Readings arrived',
    from: 'Org <cloud@example.com>',
    'reply-to': 'support@org.example',
    'message-id': `<${listed?.id}@example.com>`,
    'list-unsubscribe': expect.stringMatching(/^<https:\/\/cloud\.example\/unsubscribe\?\S+>$/),
    'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
  });
  expect(listed).toMatchObject({
    channel: 'email',
    target: ada,
    triggerName: 'hot',
    attempts: [{ outcome: 'accepted' }],
  });
  const hour = Math.floor(on.clock.now() / 3_600_000) * 3_600_000;
  expect(await usage(on)).toEqual([{ organization_id: 'org', hour, type: 'email', sent: 1 }]);
});

test('D19 all_machine_owners becomes one mail to each owner; without an owner the delivery fails and says why', async () => {
  const server = await openSmtpSink();
  let owners = ['ada@example.com', 'ben@example.com'];
  const on = await openMailRig({ smtpUrl: server.url, ownersOf: async () => owners });
  const again = mailMessage(1, 'all_machine_owners');
  await on.send(again);
  await on.send(again);
  await until(async () => (await statesIn(on.outbox)).join() === 'delivered,delivered');
  expect(server.mails.map(({ to }) => to[0]).toSorted()).toEqual(owners);
  owners = [];
  await on.send(mailMessage(2, 'all_machine_owners'));
  await until(async () => (await statesIn(on.outbox)).includes('failed'));
  expect(on.lines.at(-1)?.line.message).toContain('expected at least one person who owns the machine');
});

test('D45 without a mail server a notification is kept in the test inbox, not delivered; delivery log and machine log say so, and it is not counted', async () => {
  const on = await openMailRig();
  await on.send(mailMessage(1));
  await until(async () => (await statesIn(on.outbox)).join() === 'kept');
  expect(on.inbox).toMatchObject([
    {
      organizationId: 'org',
      to: ada,
      mail: { subject: 'Robot: cpu Readings arrived', html: expect.stringContaining('<h2') },
    },
  ]);
  const [listed] = await on.outbox.list();
  expect(listed?.attempts[0]).toMatchObject({
    outcome: 'kept',
    response: expect.stringContaining('kept in the test inbox: no mail server is configured'),
  });
  expect(on.lines).toMatchObject([
    {
      partId: 'part',
      line: { level: 'warn', loggerName: 'app.trigger.hot', message: expect.stringContaining('test inbox') },
    },
  ]);
  expect(await usage(on)).toEqual([]);
});

test('D45 a kept notification that is sent again once there is a mail server is delivered, and counted once', async () => {
  const server = await openSmtpSink();
  const on = await openOutboxRig();
  const without = on.open();
  without.start();
  await enqueueWebhooks(on, without, mailMessage(1));
  await until(async () => (await statesIn(without)).join() === 'kept');
  await stopAll(on.clock, [without]);
  const outbox = on.open({ smtpUrl: server.url });
  outbox.start();
  const [kept] = await outbox.list();
  for (const times of [1, 2]) {
    const retried = [{ id: kept?.id ?? '', sealed: null }];
    await on.db.transaction().execute((trx) => retryDeliveries(trx, retried, on.clock.now()));
    outbox.wake();
    await until(async () => (await statesIn(outbox)).join() === 'delivered');
    expect(server.mails).toHaveLength(times);
  }
  expect((await outbox.list())[0]?.attempts.map(({ outcome }) => outcome)).toEqual(['kept', 'accepted', 'accepted']);
  expect((await usage(on)).map(({ sent }) => sent)).toEqual([1]);
});

test('a recipient who unsubscribed gets nothing more from the organization, the delivery log says why, and it can be undone', async () => {
  const server = await openSmtpSink();
  const on = await openMailRig({ smtpUrl: server.url });
  const subscription = { organizationId: 'org', address: 'Ada@Example.com' };
  await setSubscribed(on.db, subscription, false, 1_000);
  await on.send(mailMessage(1));
  await until(async () => (await statesIn(on.outbox)).join() === 'failed');
  expect((await on.outbox.list())[0]?.attempts[0]?.error).toContain('has unsubscribed');
  await setSubscribed(on.db, subscription, true, 2_000);
  await on.send(mailMessage(2));
  await until(async () => (await statesIn(on.outbox)).join() === 'delivered,failed');
  expect(server.mails).toHaveLength(1);
});

test.each([
  ['refuses every recipient for now', (server: SmtpSink) => server.refuseWith(451)],
  ['fails for now after the content', (server: SmtpSink) => server.failContent(452)],
  ['drops the connection after the content', (server: SmtpSink) => server.failContent('drop')],
])('a server that %s loses nothing', async (_what, disturb) => {
  const server = await openSmtpSink();
  const on = await openMailRig({ smtpUrl: server.url });
  disturb(server);
  await on.send(...Array.from({ length: 5 }, (_, n) => mailMessage(n)));
  await until(async () => (await on.outbox.list()).every(({ attempts }) => attempts.length > 0));
  server.refuseWith(undefined);
  server.failContent(undefined);
  await until(async () => {
    await makeDue(on, on.outbox);
    return (await statesIn(on.outbox)).every((state) => state === 'delivered');
  });
  expect(server.mails.reduce((sum, mail) => sum + listedIn(mail), 0)).toBe(5);
});

test('nothing is lost if a server hangs or does not exist', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { port: number };
  const on = await openMailRig({ smtpUrl: `smtp://127.0.0.1:${port}`, mailTimeoutMs: 50 });
  await on.send(mailMessage(1));
  await until(async () => (await on.outbox.list())[0]?.attempts.length === 1);
  await new Promise<void>((resolve) => silent.close(() => resolve()));
  await until(async () => {
    await makeDue(on, on.outbox);
    return ((await on.outbox.list())[0]?.attempts.length ?? 0) >= 2;
  });
  const [message] = await on.outbox.list();
  expect(message?.state).toBe('pending');
  expect(new Set(message?.attempts.map(({ outcome }) => outcome))).toEqual(new Set(['retryLater']));
});

/** How many mails a person gets, and when (D45), with a real database and mail server. */
import { expect, test } from 'vitest';
import type { Message } from '../event.ts';
import {
  ada,
  inOrganization,
  listedIn,
  mailMessage,
  offline,
  openMailRig,
  openSmtpSink,
  waiting,
} from '../testing/open-mail-rig.ts';
import {
  enqueueWebhooks,
  makeDue,
  type OutboxRig,
  openOutboxRig,
  statesIn,
  stopAll,
  until,
} from '../testing/open-outbox.ts';
import { mailIntervalMs, mailsAtOnce, noticesAtOnce, noticesWaitMs } from './gather-mails.ts';

const many = (count: number, make: (n: number) => Message): Message[] =>
  Array.from({ length: count }, (_, n) => make(n));
const delivered = async ({ db }: OutboxRig): Promise<number> =>
  (await db.selectFrom('outbox_messages').select('id').where('state', '=', 'delivered').execute()).length;

/** Lets time pass in steps, until the condition holds. */
async function passes(on: OutboxRig & { outbox: { wake(): void } }, stepMs: number, holds: () => Promise<boolean>) {
  while (!(await holds())) {
    on.clock.setWall(on.clock.now() + stepMs);
    on.outbox.wake();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('D45 to one person at most 30 mails about data in any hour, in all organizations; further ones come in a mail that lists each', async () => {
  const server = await openSmtpSink();
  const on = await openMailRig({ smtpUrl: server.url });
  const sentAt: number[] = [];
  let seen = 0;
  let created = 0;
  const beganAt = on.clock.now();
  // Two organizations send to one person, whose address is written in two ways, for more than two hours.
  while (on.clock.now() < beganAt + 2.5 * 3_600_000) {
    const n = created++;
    await on.send(inOrganization(n % 3 === 0 ? 'other' : 'org', mailMessage(n, n % 2 === 0 ? ada : 'Ada@Example.com')));
    on.clock.setWall(on.clock.now() + 60_000);
    on.outbox.wake();
    await until(async () => on.sending() === 0);
    while (seen < server.mails.length) sentAt[seen++] = on.clock.now();
  }
  await passes(on, mailIntervalMs, async () => (await delivered(on)) === created);
  while (seen < server.mails.length) sentAt[seen++] = on.clock.now();
  for (const at of sentAt)
    expect(sentAt.filter((one) => one > at - 3_600_000 && one <= at).length).toBeLessThanOrEqual(30);
  expect(server.mails.reduce((sum, mail) => sum + listedIn(mail), 0)).toBe(created);
});

test('D45 beyond the limit, notifications about data to one person are merged; none is dropped, and others are not delayed', async () => {
  const server = await openSmtpSink();
  const on = await openMailRig({ smtpUrl: server.url });
  await on.send(...many(mailsAtOnce + 25, (n) => mailMessage(n)));
  await until(async () => (await delivered(on)) === mailsAtOnce);
  await waiting(on, 25);
  await on.send(mailMessage(900, 'ben@example.com'));
  await server.waitFor(mailsAtOnce + 1);
  on.clock.setWall(on.clock.now() + mailIntervalMs);
  on.outbox.wake();
  await until(async () => (await statesIn(on.outbox)).every((state) => state === 'delivered'));
  expect(server.mails).toHaveLength(mailsAtOnce + 2);
  const last = server.mails.at(-1);
  expect(last?.headers.get('subject')).toBe('25 notifications from Robot');
  expect(last && listedIn(last)).toBe(25);
  // The clock may have passed an hour boundary.
  const usage = await on.db.selectFrom('notification_usage').select('sent').execute();
  expect(usage.reduce((sum, { sent }) => sum + sent, 0)).toBe(mailsAtOnce + 26);
});

test('D45 an organization with few notifications gets its turn beside one with many', async () => {
  const server = await openSmtpSink();
  const on = await openMailRig({ smtpUrl: server.url });
  await on.send(...many(mailsAtOnce, (n) => mailMessage(n)));
  await until(async () => (await delivered(on)) === mailsAtOnce);
  await on.send(mailMessage(100));
  await waiting(on, 1);
  on.clock.setWall(on.clock.now() + 1);
  await on.send(inOrganization('zz', mailMessage(200)));
  await waiting(on, 2);
  for (let n = 0; (await delivered(on)) < mailsAtOnce + 2 + n; ) {
    on.clock.setWall(on.clock.now() + mailIntervalMs / 2);
    if (n < 4) await on.send(mailMessage(300 + n++));
    else on.outbox.wake();
    await until(() => on.sending() === 0);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const organizations = server.mails.slice(mailsAtOnce).map(({ text }) => /notifications\/(\w+)/.exec(text)?.[1]);
  const other = inOrganization('zz', mailMessage(200)).id;
  expect(organizations.indexOf(other)).toBeGreaterThanOrEqual(0);
  expect(organizations.indexOf(other)).toBeLessThanOrEqual(1);
});

test('D45 a notice does not wait for mails about data', async () => {
  const server = await openSmtpSink();
  const on = await openMailRig({ smtpUrl: server.url });
  await on.send(...many(mailsAtOnce + 25, (n) => mailMessage(n)));
  await until(async () => (await delivered(on)) === mailsAtOnce);
  await waiting(on, 25);
  await on.send(offline(1));
  await server.waitFor(mailsAtOnce + 1);
  expect(server.mails.at(-1)?.headers.get('subject')).toBe('machine 1 is offline');
});

test('D45 up to five notices of a minute are sent at once; more become one mail that lists each, within 60 s of the first', async () => {
  const server = await openSmtpSink();
  const on = await openMailRig({ smtpUrl: server.url });
  await on.send(...many(noticesAtOnce, (n) => offline(n)));
  await server.waitFor(noticesAtOnce);
  const firstAt = on.clock.now();
  on.clock.setWall(firstAt + 20_000);
  await on.send(...many(3, (n) => offline(100 + n)));
  await waiting(on, 3);
  on.clock.setWall(firstAt + 40_000);
  await on.send(offline(200));
  await waiting(on, 4);
  on.clock.setWall(firstAt + noticesWaitMs);
  on.outbox.wake();
  await until(async () => (await delivered(on)) === noticesAtOnce + 4);
  expect(server.mails).toHaveLength(noticesAtOnce + 1);
  expect(server.mails.at(-1)?.headers.get('subject')).toBe('4 notifications from 4 machines');
  for (const n of [100, 101, 102, 200]) expect(server.mails.at(-1)?.text).toContain(`machine ${n} is offline`);
  // After a quiet minute, notices are sent at once again.
  on.clock.setWall(on.clock.now() + 60_000);
  await on.send(offline(300));
  await server.waitFor(noticesAtOnce + 2);
});

test('D45 2,000 machines that go offline at once are one mail that lists each, within a minute', async () => {
  const server = await openSmtpSink();
  const on = await openMailRig({ smtpUrl: server.url });
  const beganAt = on.clock.now();
  await on.send(...many(1_000, (n) => offline(n)));
  await on.send(...many(1_000, (n) => offline(1_000 + n, ada, `${'מכונה'.repeat(2_000)} ${n}`)));
  await waiting(on, 2_000);
  on.clock.setWall(beganAt + noticesWaitMs);
  on.outbox.wake();
  const [mail] = await server.waitFor(1);
  await until(async () => (await delivered(on)) === 2_000);
  expect(server.mails).toHaveLength(1);
  expect(mail && listedIn(mail)).toBe(2_000);
  expect(mail?.text.length).toBeLessThan(1_000_000);
});

test('I11 a mail that was being sent when the process ended is sent again with the same content and id; later notices are in another', async () => {
  const server = await openSmtpSink();
  const on = await openOutboxRig();
  // The first process ends while its mail is on the way: its attempt is not recorded.
  const first = on.open({ smtpUrl: server.url });
  first.start();
  await enqueueWebhooks(on, first, ...many(noticesAtOnce + 2, (n) => offline(n)));
  await waiting(on, noticesAtOnce + 2);
  on.clock.setWall(on.clock.now() + noticesWaitMs);
  server.failContent('drop');
  first.wake();
  await until(() => server.failed.length === 1);
  await stopAll(on.clock, [first]);
  await on.db.deleteFrom('outbox_attempts').execute();
  await on.db.updateTable('outbox_messages').set({ attempts: 0, next_attempt_at: on.clock.now() }).execute();
  server.failContent(undefined);
  const second = on.open({ smtpUrl: server.url });
  await enqueueWebhooks(on, second, offline(900));
  second.start();
  await until(async () => {
    await makeDue(on, second);
    return (await statesIn(second)).every((state) => state === 'delivered');
  });
  const [dropped] = server.failed;
  const same = server.mails.filter(({ headers }) => headers.get('message-id') === dropped?.headers.get('message-id'));
  expect(same.map(({ text }) => text)).toEqual([dropped?.text]);
  expect(server.mails.map(listedIn).toSorted((a, b) => a - b)).toEqual([1, noticesAtOnce + 2]);
});

test('D45 a mail server that comes back after a day gets one mail of each kind, without what is older than a day, which is reported', async () => {
  const server = await openSmtpSink();
  const on = await openMailRig({ smtpUrl: server.url });
  server.refuseWith(451);
  const beganAt = on.clock.now();
  await on.send(mailMessage(0), offline(0));
  await until(async () => (await on.outbox.list()).every(({ attempts }) => attempts.length > 0));
  for (let hour = 1; hour <= 24; hour += 4) {
    on.clock.setWall(beganAt + hour * 3_600_000);
    await on.send(...many(3, (n) => mailMessage(hour * 10 + n)), ...many(3, (n) => offline(hour * 10 + n)));
    await until(async () => (await on.outbox.list({ limit: 500 })).every(({ attempts }) => attempts.length > 0));
  }
  expect(server.mails).toEqual([]);
  on.clock.setWall(beganAt + 24 * 3_600_000 + 60_000);
  await passes(on, 30_000, async () => (await statesIn(on.outbox)).filter((state) => state === 'failed').length >= 2);
  server.refuseWith(undefined);
  await passes(on, 30_000, async () => !(await statesIn(on.outbox)).includes('pending'));
  const rows = await on.db.selectFrom('outbox_messages').select(['state', 'created_at', 'finished_at']).execute();
  const failed = rows.filter(({ state }) => state === 'failed');
  for (const { created_at, finished_at } of failed) expect((finished_at ?? 0) - created_at).toBeGreaterThan(86_400_000);
  expect(on.lines.filter(({ line }) => line.message.includes('given up')).length).toBeGreaterThanOrEqual(2);
  expect(server.mails.reduce((sum, mail) => sum + listedIn(mail), 0)).toBe(rows.length - failed.length);
  expect(rows.length - failed.length).toBeGreaterThanOrEqual(30);
  expect(server.mails.length).toBeLessThanOrEqual(4);
});

test('single mails and lists to several recipients have the zone of each', async () => {
  const server = await openSmtpSink();
  const zones: Readonly<Record<string, string>> = {
    'ada@example.com': 'Europe/Berlin',
    'ben@example.com': 'Asia/Tokyo',
  };
  const owners = [...Object.keys(zones), 'eve@example.com'];
  const on = await openMailRig({
    smtpUrl: server.url,
    ownersOf: async () => owners,
    zoneOf: async (organizationId, address) => zones[address] ?? (organizationId === 'org' ? 'America/New_York' : ''),
  });
  const at = Date.parse('2026-12-01T13:05:09Z');
  const notice = (n: number): Message => ({ ...offline(n, 'all_machine_owners'), eventAtMs: at });
  await on.send(...many(noticesAtOnce, notice));
  await server.waitFor(noticesAtOnce * owners.length);
  await on.send(...many(3, (n) => notice(100 + n)));
  await waiting(on, 3 * owners.length);
  on.clock.setWall(on.clock.now() + noticesWaitMs);
  on.outbox.wake();
  await server.waitFor((noticesAtOnce + 1) * owners.length);
  const times = (address: string): string[] =>
    server.mails
      .filter(({ to }) => to[0] === address)
      .flatMap(({ text }) => text.match(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [^ ]+(?: \(\S+\))?/g) ?? []);
  expect(times('ada@example.com')).toEqual(Array(noticesAtOnce + 3).fill('2026-12-01 14:05:09 CET (Europe/Berlin)'));
  expect(times('ben@example.com')).toEqual(Array(noticesAtOnce + 3).fill('2026-12-01 22:05:09 GMT+9 (Asia/Tokyo)'));
  expect(times('eve@example.com')).toEqual(Array(noticesAtOnce + 3).fill('2026-12-01 08:05:09 EST (America/New_York)'));
});

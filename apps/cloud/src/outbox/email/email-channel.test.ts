/** The outbox's e-mails, with a real database and mail server. */
import { createServer } from 'node:net';
import { type SmtpSink, startSmtpSink } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../metadata/tables.ts';
import type { Outbox } from '../feature.ts';
import {
  enqueueWebhooks,
  makeDue,
  type OutboxOverrides,
  type OutboxRig,
  openOutboxRig,
  statesIn,
  stopAll,
  until,
} from '../testing/open-outbox.ts';
import { webhookMessage } from '../testing/webhook-message.ts';
import { createMail, type MailMessage } from './mail.ts';

const token = 'q7Wk3_0fQz-ZtB4n9YxLr2VdJm8sHcTeUaPg5oKiN1E';

interface MailRig extends OutboxRig {
  readonly outbox: Outbox;
  send(...mails: Partial<MailMessage>[]): Promise<void>;
}

/** Returns with the outbox started. */
async function rig(smtpUrl: string, overrides: OutboxOverrides = {}): Promise<MailRig> {
  const on = await openOutboxRig();
  const outbox = on.open({ smtpUrl, ...overrides });
  outbox.start();
  return { ...on, outbox, send: (...mails) => send(on, outbox, ...mails) };
}

async function send(
  { db, instanceKey, clock }: OutboxRig,
  outbox: Outbox,
  ...mails: Partial<MailMessage>[]
): Promise<void> {
  const mail = createMail({ outbox, instanceKey, clock });
  await db.transaction().execute(async (trx) => {
    for (const one of mails) {
      const text = `open http://127.0.0.1/invitations?token=${token}\n`;
      await mail.enqueue(trx, { to: 'ada@example.com', kind: 'invitation', subject: 'Hello', text, ...one });
    }
  });
  mail.wake();
}

async function sink(): Promise<SmtpSink> {
  const started = await startSmtpSink();
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

const states = async (outbox: Outbox): Promise<string> => (await statesIn(outbox)).join();

/** The content of all outbox tables, as text. */
async function stored(db: Database): Promise<string> {
  const messages = await db.selectFrom('outbox_messages').selectAll().execute();
  const attempts = await db.selectFrom('outbox_attempts').selectAll().execute();
  return [...messages, ...attempts]
    .flatMap((row) => Object.values(row))
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)))
    .join('\n');
}

test('a mail is delivered once and its attempt recorded; its content is stored sealed and removed after sending', async () => {
  const server = await sink();
  const on = await rig(server.url);
  const { db, outbox, send } = on;
  server.refuseWith(451);
  await send({});
  await until(async () => (await outbox.list())[0]?.attempts.length === 1);
  const waiting = await db.selectFrom('outbox_messages').selectAll().executeTakeFirstOrThrow();
  expect(waiting.sealed).toBeInstanceOf(Uint8Array);
  expect(await stored(db)).not.toMatch(/token|Hello/);
  server.refuseWith(undefined);
  await until(async () => {
    await makeDue(on, outbox);
    return (await states(outbox)) === 'delivered';
  });
  expect(server.mails).toHaveLength(1);
  expect(server.mails[0]).toMatchObject({ to: ['ada@example.com'], from: 'cloud@example.com' });
  const [listed] = await outbox.list();
  expect(listed).toMatchObject({
    channel: 'email',
    target: 'ada@example.com',
    eventType: 'invitation',
    triggerName: '',
    attempts: [
      { attempt: 1, outcome: 'retryLater', code: 451 },
      { attempt: 2, outcome: 'accepted', error: null },
    ],
  });
  expect((await db.selectFrom('outbox_messages').select('sealed').execute())[0]?.sealed).toBe(null);
});

test('a mail that the server permanently refuses is given up, recorded, counted and logged without its content', async () => {
  const server = await sink();
  const { db, outbox, logged, send } = await rig(server.url);
  server.refuseWith(550);
  await send({});
  await until(async () => (await states(outbox)) === 'failed');
  const [listed] = await outbox.list({ undeliveredIn: 'email' });
  expect(listed).toMatchObject({ attempts: [{ outcome: 'rejected', code: 550 }] });
  expect(await outbox.counts('email')).toEqual({ delivered: 0, kept: 0, pending: 0, failed: 1 });
  expect(await outbox.counts('webhook')).toEqual({ delivered: 0, kept: 0, pending: 0, failed: 0 });
  expect(JSON.stringify(listed)).not.toMatch(/sealed|subject|Hello|token/);
  expect((await db.selectFrom('outbox_messages').select('sealed').execute())[0]?.sealed).toBe(null);
  expect(logged.filter((line) => line.includes('a message was given up'))).toHaveLength(1);
  expect(logged.join()).not.toContain(token);
});

test('a mail is retried for a day with waits growing to an hour, then given up', async () => {
  const server = await sink();
  const { clock, outbox, send } = await rig(server.url);
  server.refuseWith(451);
  await send({});
  const began = clock.now();
  const waitsMs: number[] = [];
  for (let made = 1; ; made++) {
    await until(async () => (await outbox.list())[0]?.attempts.length === made);
    const [listed] = await outbox.list();
    if (listed?.state === 'failed') break;
    waitsMs.push((listed?.nextAttemptAtMs ?? 0) - (listed?.attempts.at(-1)?.at ?? 0));
    clock.setWall(listed?.nextAttemptAtMs ?? 0);
    outbox.wake();
  }
  expect(waitsMs[0]).toBeLessThanOrEqual(6_000);
  expect(Math.max(...waitsMs)).toBeGreaterThan(0.8 * 3_600_000);
  expect(Math.max(...waitsMs)).toBeLessThanOrEqual(1.2 * 3_600_000 + 10_000);
  expect(clock.now() - began).toBeGreaterThan(86_400_000);
  expect((await outbox.list({ undeliveredIn: 'email' }))[0]?.attempts.at(-1)?.outcome).toBe('retryLater');
});

test("links quoted in a mail server's answer are neither recorded nor logged", async () => {
  const { port, close } = await answering(`554 5.7.1 http://127.0.0.1/invitations?token=${token} is blocked`);
  onTestFinished(close);
  const { db, outbox, logged, send } = await rig(`smtp://127.0.0.1:${port}`);
  await send({});
  await until(async () => (await outbox.list())[0]?.attempts.length === 1);
  expect((await outbox.list())[0]?.attempts[0]?.error).toContain('token=… is blocked');
  expect(await stored(db)).not.toContain(token);
  expect(logged.join()).not.toContain(token);
});

test('mails to one person are sent one at a time, in the order in which they were enqueued', async () => {
  const server = await sink();
  const { clock, send } = await rig(server.url);
  for (const n of [1, 2, 3, 4, 5, 6]) {
    clock.setWall(clock.now() + 1);
    await send({ subject: `Mail ${n}` });
  }
  await server.waitFor(6);
  expect(server.mails.map(({ headers }) => headers.get('subject'))).toEqual([1, 2, 3, 4, 5, 6].map((n) => `Mail ${n}`));
});

test('a mail server that hangs delays no webhook, and webhooks that hang delay no mail', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as { port: number };
  const stuck = await rig(`smtp://127.0.0.1:${port}`);
  await stuck.send(...Array.from({ length: 100 }, (_, n) => ({ to: `p${n}@example.com` })));
  await enqueueWebhooks(stuck, stuck.outbox, webhookMessage(1, `${stuck.sink.url}/test-inbox/webhooks/a`));
  await until(async () => (await stuck.outbox.counts('webhook')).delivered === 1);

  const server = await sink();
  const healthy = await rig(server.url);
  const hooks = healthy.sink;
  hooks.answerWith(() => new Promise(() => {}));
  const hanging = Array.from({ length: 100 }, (_, n) => webhookMessage(n, `${hooks.url}/test-inbox/webhooks/${n}`));
  await enqueueWebhooks(healthy, healthy.outbox, ...hanging);
  await until(() => hooks.requests.length === 100);
  await healthy.send({});
  await server.waitFor(1);
});

test('a mail that a server does not accept in time is retried', async () => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as { port: number };
  const { outbox, send } = await rig(`smtp://127.0.0.1:${port}`, { mailTimeoutMs: 50 });
  await send({});
  await until(async () => (await outbox.list())[0]?.attempts.length === 1);
  expect((await outbox.list())[0]).toMatchObject({
    state: 'pending',
    attempts: [{ outcome: 'retryLater', error: expect.stringContaining('within 0.05 s') }],
  });
});

test('a mail has its message id as its Message-ID, the same at every attempt', async () => {
  const server = await sink();
  const { outbox, send } = await rig(server.url);
  await send({});
  await until(async () => (await states(outbox)) === 'delivered');
  const [sent] = await outbox.list();
  expect(sent?.id).toMatch(/^msg_/);
  expect(server.mails[0]?.headers.get('message-id')).toBe(`<${sent?.id}@example.com>`);
});

test('a mail about an invoice carries its PDF, also at a later attempt; one whose PDF cannot be made is tried again', async () => {
  const server = await sink();
  const content = Buffer.from([37, 80, 68, 70, 0, 255, 13, 10, 13, 10]);
  const asked: string[][] = [];
  let isBroken = true;
  const on = await rig(server.url, {
    async invoicePdf(...of) {
      asked.push(of);
      if (isBroken) throw new Error('no fonts at /secret/path');
      return { filename: 'INV-000001.pdf', contentType: 'application/pdf', content };
    },
  });
  const { db, outbox, logged } = on;
  const invoice = { kind: 'billing' as const, organizationId: 'org', invoiceId: 'i-1', html: '<p>Hello</p>' };
  await on.send({ ...invoice, fromName: 'The biller', replyTo: 'help@example.com' });
  await until(async () => (await outbox.list())[0]?.attempts.length === 1);
  const [listed] = await outbox.list();
  expect(listed).toMatchObject({ state: 'pending', attempts: [{ outcome: 'retryLater' }] });
  expect(JSON.stringify(listed)).not.toMatch(/fonts|secret/);
  expect(await stored(db)).not.toContain('Hello');
  isBroken = false;
  server.failContent('drop');
  await until(async () => {
    await makeDue(on, outbox);
    return server.failed.length > 0;
  });
  server.failContent(undefined);
  await until(async () => {
    await makeDue(on, outbox);
    return (await states(outbox)) === 'delivered';
  });
  for (const mail of [...server.failed, ...server.mails]) {
    expect(mail).toMatchObject({ html: '<p>Hello</p>', text: expect.stringContaining('open http') });
    expect(mail.attachments).toEqual([{ filename: 'INV-000001.pdf', type: 'application/pdf', content }]);
    expect(mail.headers.get('from')).toBe('The biller <cloud@example.com>');
    expect(mail.headers.get('reply-to')).toBe('help@example.com');
  }
  expect(new Set(server.mails.map(({ headers }) => headers.get('message-id'))).size).toBe(1);
  expect(new Set(asked.map(String))).toEqual(new Set(['org,i-1']));
  expect(logged.join()).not.toContain(token);
});

test('an invitation to a deleted organization is not sent', async () => {
  const server = await sink();
  const { db, outbox, send } = await rig(server.url, { organizationExists: (id) => id !== 'gone' });
  await send({ organizationId: 'gone' }, { organizationId: 'there' }, {});
  await until(async () => (await states(outbox)) === 'cancelled,delivered,delivered');
  expect(server.mails).toHaveLength(2);
  expect(await db.selectFrom('outbox_messages').select('id').where('sealed', 'is not', null).execute()).toEqual([]);
});

test('mails wait while no mail server is configured, and are sent once there is one', async () => {
  const server = await sink();
  const on = await openOutboxRig();
  const without = on.open();
  without.start();
  await send(on, without, {});
  // The webhook was enqueued after the mail: once it is delivered, the loop has also looked at the mail.
  await enqueueWebhooks(on, without, webhookMessage(1, `${on.sink.url}/test-inbox/webhooks/a`));
  await until(async () => (await states(without)) === 'delivered,pending');
  await stopAll(on.clock, [without]);
  const later = on.open({ smtpUrl: server.url });
  later.start();
  await until(async () => (await states(later)) === 'delivered,delivered');
});

/** A mail server that accepts everything up to the mail itself, which it refuses with this answer. */
async function answering(refusal: string): Promise<{ port: number; close: () => void }> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write('220 here\r\n');
    let isData = false;
    socket.on('data', (bytes) => {
      for (const line of bytes.toString().split('\r\n').slice(0, -1)) {
        if (isData && line !== '.') continue;
        if (isData) socket.write(`${refusal}\r\n`);
        else if (line === 'DATA') socket.write('354 go on\r\n');
        else socket.write('250 yes\r\n');
        isData = line === 'DATA';
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as { port: number }).port, close: () => void server.close() };
}

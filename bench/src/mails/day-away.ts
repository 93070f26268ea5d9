/**
 * A day without a mail server: notifications arrive all day, then the server returns. The outbox and the mail server are real; the clock of
 * the outbox is simulated, so that the day takes minutes.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog, silentLog, systemClock } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { createKeyRing, newKeyMaterial } from '../../../apps/cloud/src/instance/instance-key.ts';
import { migrations } from '../../../apps/cloud/src/metadata/migrations.ts';
import { openMetadata } from '../../../apps/cloud/src/metadata/open-metadata.ts';
import type { CloudTables, Database } from '../../../apps/cloud/src/metadata/tables.ts';
import { createEmailChannel } from '../../../apps/cloud/src/outbox/email/email-channel.ts';
import type { Message } from '../../../apps/cloud/src/outbox/event.ts';
import { createOutbox, type Outbox } from '../../../apps/cloud/src/outbox/feature.ts';
import { webhookMessage } from '../../../apps/cloud/src/outbox/testing/webhook-message.ts';
import { scratch } from '../cloud/scratch.ts';
import type { Figure } from '../store/figure.ts';
import { checkMails, figuresOf } from './check-mails.ts';
import type { Exim } from './start-exim.ts';

/** Gets the mails of this part. */
export const away = 'away';
const hourMs = 3_600_000;
/** Longer than a day, so that the first notifications are given up, which is reported. */
const hoursAway = 25;
const stepMs = 30_000;
const mostAtOnceMs = 600_000;
/** At most a mail of each kind for each 2,000 notifications, and those that the limit of mails about data allows. */
const mostMails = 8;

export async function measureDayAway(server: Exim, notifications: number): Promise<Figure[]> {
  using folder = scratch();
  const clock = new FakeClock();
  await using metadata = await openMetadata<CloudTables>({
    ...{ file: join(folder.path, 'meta.sqlite'), database: undefined, log: silentLog, clock: systemClock },
    ...{ migrations, onFatal: fail },
  });
  const { db } = metadata;
  const givenUp: string[] = [];
  const outbox = openOutbox(db, clock, server.url, (line) => givenUp.push(line));
  outbox.start();
  await server.stop();
  const target = `${away}@example.com`;
  const perHour = Math.ceil(notifications / hoursAway);
  let made = 0;
  for (let hour = 0; hour < hoursAway; hour++) {
    const messages = Array.from({ length: perHour }, () => {
      const data = webhookMessage(made++, target, { channel: 'email', eventAtMs: clock.now() });
      return [data, offline(webhookMessage(made++, target, { channel: 'email', eventAtMs: clock.now() }))];
    }).flat();
    await db.transaction().execute((trx) => outbox.enqueue(trx, messages));
    await passes(outbox, clock, hourMs, db);
  }
  await server.start();
  while ((await waiting(db, Number.MAX_SAFE_INTEGER)) > 0) await passes(outbox, clock, stepMs, db);
  await outbox[Symbol.asyncDispose]();

  const rows = await db.selectFrom('outbox_messages').select(['id', 'state', 'created_at', 'finished_at']).execute();
  const failed = rows.filter(({ state }) => state === 'failed');
  const early = failed.filter(({ created_at, finished_at }) => (finished_at ?? 0) - created_at < 24 * hourMs);
  const delivered = rows.filter(({ state }) => state === 'delivered').map(({ id }) => ({ id, createdMs: 0 }));
  const mails = server.mailsTo(away);
  // Times are those of a simulated clock.
  const [lost, doubled] = figuresOf(
    `a server that was away for ${hoursAway} h`,
    delivered.length,
    checkMails(delivered, mails),
  );
  const name = `away for ${hoursAway} h`;
  return [
    ...(lost && doubled ? [lost, doubled] : []),
    {
      ...{ name: `${name}: given up before a day was over`, value: early.length, unit: 'notifications', most: 0 },
      note: `${failed.length} given up after a day, in ${givenUp.length} lines of machines' logs`,
    },
    {
      name: `${name}: neither delivered nor given up`,
      value: rows.length - delivered.length - failed.length,
      unit: 'notifications',
      most: 0,
    },
    { name: `${name}: mails after its return`, value: mails.length, unit: 'mails', most: mostMails },
  ];
}

function fail(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}

function openOutbox(db: Database, clock: FakeClock, smtpUrl: string, gaveUp: (line: string) => void): Outbox {
  const instanceKey = createKeyRing(newKeyMaterial(), [], 'the key of the bench');
  return createOutbox({
    ...{ db, instanceKey, clock, log: createLog(() => undefined) },
    channels: {
      email: createEmailChannel({
        ...{ db, instanceKey, clock },
        settings: { smtpUrl, from: 'Platform <platform@example.com>' },
        branding: async () => ({ organizationName: 'Org', logoUrl: '', supportEmail: '' }),
        publicUrl: () => 'https://cloud.example',
        zoneOf: async () => '',
        keep: () => undefined,
        invoicePdf: () => Promise.reject(new Error('expected no mail about an invoice')),
      }),
    },
    ownersOf: async () => [],
    organizationExists: () => true,
    appendMachineLog: async (_partId, { message }) => {
      if (message.includes('given up')) gaveUp(message);
    },
  });
}

function offline(message: Message): Message {
  const { data: _none, ...event } = message.event;
  return { ...message, triggerName: 'gone', event: { ...event, type: 'part_offline' } };
}

/** Time passes in steps; in each, everything that is due is attempted. */
async function passes(outbox: Outbox, clock: FakeClock, ms: number, db: Database): Promise<void> {
  const atOnceMs = Math.min(ms, mostAtOnceMs);
  for (let passedMs = 0; passedMs < ms; passedMs += atOnceMs) {
    clock.setWall(clock.now() + atOnceMs);
    outbox.wake();
    while ((await waiting(db, clock.now())) > 0) await sleep(10);
  }
}

/** How many notifications wait and are due by then. */
async function waiting(db: Database, dueMs: number): Promise<number> {
  const { n } = await db
    .selectFrom('outbox_messages')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('state', '=', 'pending')
    .where('next_attempt_at', '<=', dueMs)
    .executeTakeFirstOrThrow();
  return Number(n);
}

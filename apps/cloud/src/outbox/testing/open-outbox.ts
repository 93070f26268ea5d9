/** An outbox with a real database, real channels and receivers, for tests; everything is removed after the test. */
import { createLog, silentLog, systemClock } from '@platform/base';
import { FakeClock, startWebhookSink, type WebhookSink } from '@platform/testkit';
import { onTestFinished, vi } from 'vitest';
import { createKeyRing, type KeyRing, newKeyMaterial } from '../../instance/instance-key.ts';
import { migrations } from '../../metadata/migrations.ts';
import { openMetadata } from '../../metadata/open-metadata.ts';
import type { CloudTables, Database } from '../../metadata/tables.ts';
import { openTestStore, type StoreKind } from '../../metadata/testing/test-store.ts';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import type { Channel } from '../channel.ts';
import type { OutboxDeps } from '../deliver.ts';
import { createEmailChannel, type EmailChannelDeps, type KeptMail } from '../email/email-channel.ts';
import type { EnqueueDeps } from '../enqueue.ts';
import type { Message } from '../event.ts';
import type { MachineLogLine } from '../failure-line.ts';
import { createOutbox, type Outbox } from '../feature.ts';
import type { KeptPush } from '../push/push-channel.ts';
import type { LoopbackRule } from '../webhook/loopback-target.ts';
import { systemResolve } from '../webhook/target-refusal.ts';
import { createWebhookChannel, type WebhookChannelDeps } from '../webhook/webhook-channel.ts';
import { noLoopback } from './no-loopback.ts';

const supportEmail = 'support@org.example';
export const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** For messages without passwords, from machines without owners. */
export const noSecrets: EnqueueDeps = {
  instanceKey: {
    encrypt() {
      throw new Error('expected no secret');
    },
  },
  ownersOf: async () => [],
};

const noInvoices = async (): Promise<never> => {
  throw new Error('expected no mail about an invoice');
};

export interface OutboxOverrides
  extends Partial<Pick<OutboxDeps & EnqueueDeps, 'db' | 'organizationExists' | 'appendMachineLog' | 'ownersOf'>>,
    Partial<Pick<WebhookChannelDeps, 'signingSecrets'>>,
    Partial<Pick<EmailChannelDeps, 'invoicePdf' | 'zoneOf'>> {
  /** A mail server. Absent: notifications by e-mail go to the test inbox. */
  readonly smtpUrl?: string | undefined;
  /** Creates the channel for push notifications; it adds what goes to the test inbox to `kept`. Absent: there is none. */
  readonly push?: (clock: FakeClock, kept: KeptPush[]) => Channel;
  /** Default: nothing on loopback is allowed but the test inbox. */
  readonly loopback?: LoopbackRule;
  /** Limit for one mail. Default: the channel's. */
  readonly mailTimeoutMs?: number;
}

export interface OutboxRig {
  readonly clock: FakeClock;
  readonly db: Database;
  readonly instanceKey: KeyRing;
  /** Receives webhooks. */
  readonly sink: WebhookSink;
  /** Mails in the test inbox. */
  readonly inbox: readonly KeptMail[];
  /** Push notifications in the test inbox. */
  readonly pushes: readonly KeptPush[];
  /** Lines written to the logs of machines. */
  readonly lines: readonly { readonly partId: string; readonly line: MachineLogLine }[];
  /** Lines written to the log of the cloud, as JSON. */
  readonly logged: readonly string[];
  /** How many messages are being sent. */
  sending(): number;
  /** Creates an outbox, without starting it. */
  open(overrides?: OutboxOverrides): Outbox;
}

export async function openOutboxRig(kind?: StoreKind): Promise<OutboxRig> {
  const store = await openTestStore(kind, migrations);
  const sink = await startWebhookSink();
  const clock = new FakeClock();
  const instanceKey = createKeyRing(newKeyMaterial(), [], 'the key of the test');
  const where = {
    file: store.directory.file('meta.sqlite'),
    database: store.database,
    log: silentLog,
    clock: systemClock,
    onFatal: throwUncaught,
  };
  const metadata = await openMetadata<CloudTables>({ ...where, migrations });
  const { db } = metadata;
  const lines: { partId: string; line: MachineLogLine }[] = [];
  const logged: string[] = [];
  const inbox: KeptMail[] = [];
  const pushes: KeptPush[] = [];
  const outboxes: Outbox[] = [];
  let sending = 0;
  const counted = <T extends Channel>(channel: T): T => {
    const send = channel.send.bind(channel);
    return Object.assign(channel, {
      async send(...args: Parameters<Channel['send']>) {
        sending++;
        return await send(...args).finally(() => sending--);
      },
    });
  };
  onTestFinished(async () => {
    await stopAll(clock, outboxes);
    await metadata[Symbol.asyncDispose]();
    await sink[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });
  const port = Number(new URL(sink.url).port);
  return {
    ...{ clock, db, instanceKey, sink, inbox, pushes, lines, logged },
    sending: () => sending,
    open({
      smtpUrl,
      mailTimeoutMs,
      push,
      signingSecrets = async () => [webhookSecret],
      invoicePdf = noInvoices,
      zoneOf = async () => 'UTC',
      loopback = noLoopback,
      ...overrides
    } = {}) {
      const webhook = createWebhookChannel({
        ...{ clock, instanceKey, signingSecrets, version: '1.2.3' },
        ownAuthority: () => undefined,
        policy: {
          ownAddress: () => ({ host: '127.0.0.1', port }),
          privateTargetsAllowed: true,
          privateTargetsSetting: 'SETTING',
          command: 'platform',
          loopback,
          resolve: systemResolve,
        },
      });
      const outbox = createOutbox({
        ...{ db, instanceKey, clock },
        log: createLog((...line) => void logged.push(JSON.stringify(line))),
        channels: {
          webhook: counted(webhook),
          email: counted(
            createEmailChannel({
              ...{ db, instanceKey, clock },
              settings: smtpUrl === undefined ? undefined : { smtpUrl, from: 'Cloud <cloud@example.com>' },
              branding: async () => ({
                organizationName: 'Org',
                logoUrl: 'https://cloud.example/logos/1',
                supportEmail,
              }),
              publicUrl: () => 'https://cloud.example',
              keep: (mail) => void inbox.push(mail),
              ...{ invoicePdf, zoneOf },
              ...(mailTimeoutMs !== undefined && { totalTimeoutMs: mailTimeoutMs }),
            }),
          ),
          ...(push && { push: counted(push(clock, pushes)) }),
        },
        ownersOf: async () => [],
        organizationExists: () => true,
        appendMachineLog: async (partId, line) => void lines.push({ partId, line }),
        ...overrides,
      });
      outboxes.push(outbox);
      return outbox;
    },
  };
}

/** Stops the outboxes and advances the clock only by the second that a stop grants to deliveries, never by the 15 s of a request. */
export async function stopAll(clock: FakeClock, outboxes: readonly Outbox[]): Promise<void> {
  using sleep = vi.spyOn(clock, 'sleep');
  let stopped = false;
  const stopping = Promise.all(outboxes.map((outbox) => outbox[Symbol.asyncDispose]())).then(() => {
    stopped = true;
  });
  for (let passed = 0; !stopped; ) {
    if (passed < sleep.mock.calls.length) {
      passed++;
      await clock.advance(1_000);
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await stopping;
}

export async function enqueueWebhooks({ db }: OutboxRig, outbox: Outbox, ...messages: Message[]): Promise<void> {
  await db.transaction().execute((trx) => outbox.enqueue(trx, messages));
  outbox.wake();
}

/** Lets the event loop run until the condition holds; the test's own time limit ends an endless wait. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 2));
}

/**
 * Makes all messages due that wait for their next attempt. Only the wall clock moves, and no further than necessary, so that a request in
 * progress does not time out, however long the computer takes for it.
 */
export async function makeDue({ clock }: OutboxRig, outbox: Outbox): Promise<void> {
  const waiting = (await outbox.list({ limit: 500 })).filter(({ state }) => state === 'pending');
  clock.setWall(Math.max(clock.now(), ...waiting.map(({ nextAttemptAtMs }) => nextAttemptAtMs)));
  outbox.wake();
}

/** States of all messages, sorted alphabetically. */
export async function statesIn(outbox: Outbox): Promise<string[]> {
  return (await outbox.list({ limit: 500 })).map(({ state }) => state).toSorted();
}

/** Number of attempts of all messages. */
export async function attemptsIn(outbox: Outbox): Promise<number> {
  return (await outbox.list()).reduce((sum, one) => sum + one.attempts.length, 0);
}

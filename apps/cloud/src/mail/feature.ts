/**
 * Mail: what is written in the transaction of the change that it tells of is sent after the commit, at least once, and tried
 * again with growing waits for a day.
 */
import { backoffMs, type Clock, errorText, type Follower, follow, type Log } from '@platform/base';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';
import { createSmtp, type Smtp } from './smtp.ts';

export interface MailSettings {
  /** Such as `smtps://name:password@mail.example.com`. */
  readonly smtpUrl: string;
  /** The sender, such as `Platform <platform@example.com>`. */
  readonly from: string;
}

export interface MailMessage {
  /** One address that `checkedEmail` let through. */
  readonly to: string;
  /** One line. */
  readonly subject: string;
  readonly text: string;
}

export interface Mail extends AsyncDisposable {
  /** Joins a transaction; nothing is sent unless it commits. Call `wake` after the commit. */
  enqueue(trx: Database, message: MailMessage): Promise<void>;
  wake(): void;
  /** Begins to send. */
  start(): void;
}

const giveUpMs = 86_400_000;
const longestWaitMs = 3_600_000;

export function createMail(deps: {
  db: Database;
  clock: Clock;
  log: Log;
  instanceKey: InstanceKey;
  settings: MailSettings;
}): Mail {
  const { db, clock, log, instanceKey, settings } = deps;
  const smtp: Smtp = createSmtp(settings);
  let follower: Follower | undefined;

  /** Sends what is due, one at a time. True: there may be more. */
  const step = async (signal: AbortSignal): Promise<boolean> => {
    const row = await db
      .selectFrom('mail_messages')
      .selectAll()
      .where('next_attempt_ms', '<=', clock.now())
      .orderBy('next_attempt_ms')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return false;
    const attempts = row.attempts + 1;
    // A message that no longer opens is as final as one that was refused.
    const sent = await smtp
      .send({ to: row.recipient, ...JSON.parse(instanceKey.decrypt(row.sealed)) }, signal)
      .catch((caught: unknown) => ({ outcome: 'rejected' as const, error: errorText(caught) }));
    if (signal.aborted && sent.outcome !== 'accepted') return false;
    const tooOld = clock.now() - row.created_ms > giveUpMs;
    if (sent.outcome === 'retryLater' && !tooOld) {
      const waitMs = Math.round(backoffMs(attempts, { firstMs: 5_000, maxMs: longestWaitMs }));
      log.warn('mail not sent, trying again', { messageId: row.id, attempts, waitMs, error: sent.error });
      await db
        .updateTable('mail_messages')
        .set({ attempts, next_attempt_ms: clock.now() + waitMs })
        .where('id', '=', row.id)
        .execute();
      return true;
    }
    if (sent.outcome !== 'accepted')
      log.error('mail given up', { messageId: row.id, recipient: row.recipient, attempts, error: sent.error });
    await db.deleteFrom('mail_messages').where('id', '=', row.id).execute();
    return true;
  };

  return {
    async enqueue(trx, { to, subject, text }) {
      const nowMs = clock.now();
      await trx
        .insertInto('mail_messages')
        .values({
          recipient: to,
          sealed: instanceKey.encrypt(JSON.stringify({ subject, text })),
          created_ms: nowMs,
          next_attempt_ms: nowMs,
        })
        .execute();
    },
    wake: () => follower?.wake(),
    start() {
      follower ??= follow({ name: 'mail: send', step, clock, log });
    },
    async [Symbol.asyncDispose]() {
      await follower?.[Symbol.asyncDispose]();
      smtp.close();
    },
  };
}

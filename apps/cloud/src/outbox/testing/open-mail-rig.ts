/** An outbox that sends notifications by e-mail, with a real database and mail server, for tests. */
import { type SmtpSink, startSmtpSink } from '@platform/testkit';
import { onTestFinished } from 'vitest';
import type { Message } from '../event.ts';
import type { Outbox } from '../feature.ts';
import { enqueueWebhooks, type OutboxOverrides, type OutboxRig, openOutboxRig, until } from './open-outbox.ts';
import { webhookMessage } from './webhook-message.ts';

export const ada = 'ada@example.com';

export interface MailRig extends OutboxRig {
  readonly outbox: Outbox;
  send(...messages: Message[]): Promise<void>;
}

/** Returns with the outbox started. */
export async function openMailRig(overrides: OutboxOverrides = {}): Promise<MailRig> {
  const on = await openOutboxRig();
  const outbox = on.open(overrides);
  outbox.start();
  return { ...on, outbox, send: (...messages) => enqueueWebhooks(on, outbox, ...messages) };
}

export async function openSmtpSink(): Promise<SmtpSink> {
  const started = await startSmtpSink();
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

/** A notification about data. */
export function mailMessage(n: number, target: string = ada, overrides: Partial<Message> = {}): Message {
  return webhookMessage(n, target, { channel: 'email', eventAtMs: n, ...overrides });
}

/** A notification that a machine is offline. */
export function offline(n: number, target: string = ada, machine: string = `machine ${n}`): Message {
  const message = mailMessage(10_000 + n, target, { triggerName: 'gone' });
  const { data: _none, ...event } = message.event;
  return { ...message, event: { ...event, type: 'part_offline', place: { ...event.place, robotName: machine } } };
}

/** The notifications of another organization. */
export function inOrganization(organizationId: string, message: Message): Message {
  const { event } = message;
  return { ...message, event: { ...event, place: { ...event.place, organizationId } } };
}

/** Waits until this number of notifications wait for the next mail. */
export async function waiting(on: OutboxRig, count: number): Promise<void> {
  await until(async () => {
    const rows = await on.db
      .selectFrom('outbox_messages')
      .select('id')
      .where('state', '=', 'pending')
      .whereRef('next_attempt_at', '>', 'created_at')
      .where('attempts', '=', 0)
      .execute();
    return rows.length === count;
  });
}

/** How many notifications a mail lists. */
export function listedIn({ text }: { readonly text: string }): number {
  return Math.max(1, text.match(/^ {2}https:\/\/cloud\.example\/notifications\//gm)?.length ?? 0);
}

/**
 * Tables of the outbox: messages of every channel, waiting or finished, every attempt, and targets that accept nothing more.
 *
 * A message's states: `pending` (to be sent at `next_attempt_at`; also while it is being sent, which is known only in memory, so that it is
 * still due after a kill) → `delivered` | `kept` (it went to the test inbox, because nothing is configured that could send it) | `failed`
 * (final); `pending` ↔ `paused` (its target answered 410; `resume` makes it pending
 * again); `pending` → `cancelled` (final): its organization was deleted; `delivered` | `kept` | `failed` → `pending`: someone requested it
 * again. A
 * finished message loses its sealed content. Finished rows are deleted after 30 days, with their attempts.
 */
import type { Kysely, Transaction } from 'kysely';
import type { SealedColumn } from '../instance/sealed-column.ts';
import { type CheckedTable, checkedIn } from '../metadata/row-checks/checked-table.ts';
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';
import type { Urgency } from './urgency.ts';

const statements: readonly string[] = [
  `create table outbox_messages (
      id text primary key,
      organization_id text not null,
      part_id text not null,
      target text not null,
      trigger_name text not null,
      event_type text not null,
      channel text not null,
      event text not null,
      event_at bigint not null,
      state text not null,
      attempts integer not null,
      next_attempt_at bigint not null,
      created_at bigint not null,
      finished_at bigint,
      sealed blob,
      application text,
      digest text,
      retried_attempts bigint not null default 0,
      retried_at bigint,
      held integer not null default 0,
      urgency text not null,
      envelope_check text not null
    )`,
  'create index outbox_messages_created on outbox_messages (created_at)',
  // A covering index for due messages, so that a target's backlog is skipped without reading its rows.
  'create index outbox_messages_due on outbox_messages (channel, state, held, next_attempt_at, target, organization_id, urgency, id)',
  // Held messages (stuck-targets/backlog.ts) are found by their target. There are few, so a partial index adds no cost for the others.
  'create index outbox_messages_held on outbox_messages (channel, state, target, next_attempt_at) where held = 1',
  // For mails that wait for others to the same person (email/gather-mails.ts).
  "create index outbox_messages_mails on outbox_messages (target, urgency) where channel = 'email' and state = 'pending'",
  'create index outbox_messages_organization on outbox_messages (organization_id, created_at)',
  'create index outbox_messages_part on outbox_messages (part_id, created_at)',
  'create index outbox_messages_target on outbox_messages (organization_id, target, state)',
  `create table outbox_attempts (
      message_id text not null,
      attempt integer not null,
      at bigint not null,
      duration_ms integer not null,
      outcome text not null,
      code integer,
      error text,
      response text,
      primary key (message_id, attempt)
    )`,
  `create table outbox_paused_targets (
      organization_id text not null,
      target text not null,
      paused_at bigint not null,
      reason text not null,
      primary key (organization_id, target)
    )`,
  `create table outbox_targets (
      part_id text not null,
      trigger_name text not null,
      channel text not null,
      target text not null,
      organization_id text not null,
      state text not null,
      at bigint not null,
      reason text not null,
      message_id text not null,
      message_at bigint not null,
      delivered_at bigint,
      primary key (part_id, trigger_name, channel, target)
    )`,
  'create index outbox_targets_at on outbox_targets (at)',
  'create index outbox_targets_organization on outbox_targets (organization_id)',
  `create table outbox_mail_rates (
      recipient text primary key,
      next_free_at bigint not null,
      notices_since bigint not null,
      notices integer not null
    )`,
  `create table outbox_unsubscribed (
      organization_id text not null,
      recipient text not null,
      at bigint not null,
      primary key (organization_id, recipient)
    )`,
  `create table notification_usage (
      organization_id text not null,
      hour bigint not null,
      type text not null,
      sent bigint not null,
      row_check text,
      primary key (organization_id, hour, type)
    )`,
];

const checked = checkedIn(statements);

/** A day of an organization is a set. */
export const notificationUsage: CheckedTable = checked('notification_usage', 'notifications of organization', {
  owner: 'organization_id',
  time: 'hour',
  usPerTime: 1_000,
});

export const channelNames = ['webhook', 'email', 'push'] as const;

export type ChannelName = (typeof channelNames)[number];

export type MessageState = 'pending' | 'paused' | 'delivered' | 'kept' | 'failed' | 'cancelled';

/** All times are wall-clock milliseconds. */
export interface OutboxMessageRow {
  /** `msg_` and a hash of its cause: the same cause gives the same id (I11). */
  id: string;
  channel: ChannelName;
  /** Empty: the message belongs to no organization. */
  organization_id: string;
  /** Empty: it does not concern a part. */
  part_id: string;
  /** Webhook: the URL as configured. E-mail: the address. Push: the e-mail address of the person. */
  target: string;
  /** Push: the id of the mobile app; null otherwise. */
  application: string | null;
  /**
   * E-mail: the id of the mail that contains this notification, alone or with others, while the mail server may have taken that mail; null:
   * it belongs to none.
   */
  digest: string | null;
  /** Empty: no trigger caused it. */
  trigger_name: string;
  /** The type of the trigger or of the mail. */
  event_type: string;
  /** JSON of a TriggerEvent; empty: the content is sealed. */
  event: string;
  /**
   * Sealed with the instance key; null once the message is finished. Mail: JSON `{subject, text}`, whose links log people in. Webhook: the
   * value of its Authorization header, if it has one.
   */
  sealed: Uint8Array | null;
  event_at: number;
  state: MessageState;
  /** Attempts made and recorded. */
  attempts: number;
  next_attempt_at: number;
  created_at: number;
  finished_at: number | null;
  /** Attempts made before someone requested the delivery again: the waits between attempts start over. 0: no one did. */
  retried_attempts: number;
  /** When it was requested again; null: never. */
  retried_at: number | null;
  /** 1: waits for a target that had no room (stuck-targets/backlog.ts). Otherwise 0. */
  held: number;
  /** How long it may wait in favour of fewer mails (urgency.ts). */
  urgency: Urgency;
  /** A checksum of who gets it (envelope.ts). */
  envelope_check: string;
}

export interface OutboxAttemptRow {
  message_id: string;
  /** 1, 2, … */
  attempt: number;
  /** Start of the attempt. */
  at: number;
  duration_ms: number;
  /** `kept`: it went to the test inbox. */
  outcome: 'accepted' | 'kept' | 'rejected' | 'retryLater';
  /** HTTP or SMTP status, if the target returned one. */
  code: number | null;
  error: string | null;
  /** At most 4 KiB of the answer's body. */
  response: string | null;
}

export interface OutboxPausedTargetRow {
  organization_id: string;
  target: string;
  paused_at: number;
  reason: string;
}

/** The outcome of the latest attempt at a target of a trigger (target-states.ts). */
export interface OutboxTargetRow {
  part_id: string;
  trigger_name: string;
  channel: ChannelName;
  target: string;
  organization_id: string;
  /** `failing`: it is tried again, or no attempts were left. `refused`: it was rejected. */
  state: 'delivered' | 'kept' | 'failing' | 'refused';
  /** Start of the attempt. */
  at: number;
  /** Human-readable; empty: it was delivered. */
  reason: string;
  message_id: string;
  /** When the message was created: that of one event is the same for all machine owners. */
  message_at: number;
  /** When a message was last delivered; null: never. */
  delivered_at: number | null;
}

/** The rate of mails to one recipient, in all organizations. Here and below, `recipient` is in lower case. */
export interface OutboxMailRateRow {
  recipient: string;
  /**
   * Each mail about data advances it by the interval between such mails; how far it is ahead of the clock shows how much of the burst the
   * recipient has used.
   */
  next_free_at: number;
  /** When the minute of the last notices began; 0: never. */
  notices_since: number;
  /** Notices sent one by one in that minute. */
  notices: number;
}

/** A recipient who no longer receives the organization's notifications by e-mail. */
export interface OutboxUnsubscribedRow {
  organization_id: string;
  recipient: string;
  at: number;
}

/** How many notifications were sent, for billing. Stays after the organization is deleted. */
export interface NotificationUsageRow {
  organization_id: string;
  /** When the hour (UTC) began. */
  hour: number;
  type: ChannelName;
  sent: number;
}

export interface OutboxTables {
  outbox_mail_rates: OutboxMailRateRow;
  outbox_targets: OutboxTargetRow;
  outbox_unsubscribed: OutboxUnsubscribedRow;
  notification_usage: NotificationUsageRow;
  outbox_messages: OutboxMessageRow;
  outbox_attempts: OutboxAttemptRow;
  outbox_paused_targets: OutboxPausedTargetRow;
}

export type OutboxDatabase = Kysely<OutboxTables>;
export type OutboxTransaction = Transaction<OutboxTables>;

export const outboxSealed: readonly SealedColumn[] = [{ table: 'outbox_messages', key: ['id'], sealed: 'sealed' }];

export const outboxSchema: Schema = {
  statements,
  checked: [notificationUsage],
};

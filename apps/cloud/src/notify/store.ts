/**
 * Tables of the outbox: messages waiting or done, every attempt, and targets that asked for nothing more.
 *
 * A message's states: `pending` (to be sent at `next_attempt_at`; also while it is being sent, which only the process
 * remembers, so that a kill leaves it due) → `delivered` | `failed` (final); `pending` ↔ `paused` (its target answered
 * 410; `resume` puts it back); `pending` → `cancelled` (final): its organization was deleted. Rows that are done are deleted after 30 days, attempts with them.
 */

export const notifyDdl: readonly string[] = [
  `create table notify_messages (
    id text primary key,
    organization_id text not null,
    part_id text not null,
    target text not null,
    trigger_name text not null,
    trigger_type text not null,
    notification_type text not null,
    authorization text,
    event text not null,
    event_at bigint not null,
    state text not null,
    attempts integer not null,
    next_attempt_at bigint not null,
    created_at bigint not null,
    finished_at bigint
  )`,
  // Holds all that a look for due messages needs, so that a target's backlog is passed by without reading its rows.
  'create index notify_messages_due on notify_messages (state, next_attempt_at, target, organization_id, id)',
  'create index notify_messages_target on notify_messages (organization_id, target, state)',
  'create index notify_messages_created on notify_messages (created_at)',
  `create table notify_attempts (
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
  `create table notify_paused_targets (
    organization_id text not null,
    target text not null,
    paused_at bigint not null,
    reason text not null,
    primary key (organization_id, target)
  )`,
];

export type MessageState = 'pending' | 'paused' | 'delivered' | 'failed' | 'cancelled';

/** All times are wall-clock milliseconds. */
export interface NotifyMessageRow {
  /** `msg_` and a hash of what caused it: the same cause is the same message (I11). */
  id: string;
  organization_id: string;
  part_id: string;
  /** Webhook: the URL as configured. */
  target: string;
  trigger_name: string;
  trigger_type: string;
  notification_type: string;
  /** Value of the Authorization header, never listed. */
  authorization: string | null;
  /** JSON of a TriggerEvent. */
  event: string;
  event_at: number;
  state: MessageState;
  /** Attempts made and recorded. */
  attempts: number;
  next_attempt_at: number;
  created_at: number;
  finished_at: number | null;
}

export interface NotifyAttemptRow {
  message_id: string;
  /** 1, 2, … */
  attempt: number;
  /** When it began. */
  at: number;
  duration_ms: number;
  outcome: 'accepted' | 'rejected' | 'retryLater';
  /** HTTP status, if one came back. */
  code: number | null;
  error: string | null;
  /** At most 4 KiB of the answer's body. */
  response: string | null;
}

export interface NotifyPausedTargetRow {
  organization_id: string;
  target: string;
  paused_at: number;
  reason: string;
}

export interface NotifyTables {
  notify_messages: NotifyMessageRow;
  notify_attempts: NotifyAttemptRow;
  notify_paused_targets: NotifyPausedTargetRow;
}

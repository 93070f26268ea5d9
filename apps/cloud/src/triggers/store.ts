/**
 * Tables of the triggers feature: where each trigger begins, when each notification was last enqueued, the state of each trigger, the
 * uploads for which a trigger could not be evaluated, and the history of triggers (history/). All but the first change in the transaction
 * that enqueues the messages (I11).
 */
import type { Kysely, Transaction } from 'kysely';
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

export interface TriggersTables {
  /** The trigger applies to rows after `position`; a trigger without a row applies to all rows. */
  trigger_starts: { part_id: string; trigger_name: string; position: number };
  /** Time of the event, ms, for which the notification, identified by a hash of its type and target, was last enqueued. */
  trigger_throttles: { part_id: string; trigger_name: string; notification: string; last_event_at: number };
  /** JSON: `rule` and `told` of a TriggerState. A trigger without state has no row. */
  trigger_states: { part_id: string; trigger_name: string; state: string };
  trigger_damaged_rows: { position: number; trigger_name: string; part_id: string; reason: string; at: number };
  trigger_history: {
    /** Hash of part, trigger, outcome, subject and minute. */
    id: string;
    organization_id: string;
    part_id: string;
    trigger_name: string;
    /** What it concerns within the part (a captured method, a key); empty: there is only one. */
    subject: string;
    /** `fired`, `recovered`, or `failed`: it could not be evaluated. */
    outcome: 'fired' | 'recovered' | 'failed';
    /** When the minute began, ms. */
    minute: number;
    /** When it last happened, ms. */
    last_at: number;
    count: number;
    /** Number of notifications. */
    sent: number;
    suppressed_by_interval: number;
    suppressed_as_not_told: number;
    /** Human-readable reason of the last occurrence. */
    reason: string;
  };
  /** `at`: ms; `cause`: of the occurrence. */
  trigger_last_fired: { part_id: string; trigger_name: string; organization_id: string; at: number; cause: string };
}

export type TriggersDatabase = Kysely<TriggersTables>;
export type TriggersTransaction = Transaction<TriggersTables>;

export const triggersSchema: Schema = {
  statements: [
    `create table trigger_starts (
      part_id text not null,
      trigger_name text not null,
      position bigint not null,
      primary key (part_id, trigger_name)
    )`,
    `create table trigger_throttles (
      part_id text not null,
      trigger_name text not null,
      notification text not null,
      last_event_at bigint not null,
      primary key (part_id, trigger_name, notification)
    )`,
    `create table trigger_damaged_rows (
      position bigint not null,
      trigger_name text not null,
      part_id text not null,
      reason text not null,
      at bigint not null,
      primary key (position, trigger_name)
    )`,
    `create table trigger_states (
      part_id text not null,
      trigger_name text not null,
      state text not null,
      primary key (part_id, trigger_name)
    )`,
    `create table trigger_history (
      id text primary key,
      organization_id text not null,
      part_id text not null,
      trigger_name text not null,
      subject text not null,
      outcome text not null,
      minute bigint not null,
      last_at bigint not null,
      count bigint not null,
      sent bigint not null,
      suppressed_by_interval bigint not null,
      suppressed_as_not_told bigint not null,
      reason text not null
    )`,
    'create index trigger_history_minute on trigger_history (minute)',
    'create index trigger_history_organization on trigger_history (organization_id, minute, id)',
    'create index trigger_history_part on trigger_history (part_id, minute, id)',
    `create table trigger_last_fired (
      part_id text not null,
      trigger_name text not null,
      organization_id text not null,
      at bigint not null,
      cause text not null,
      primary key (part_id, trigger_name)
    )`,
  ],
};

/**
 * Tables of the triggers feature: where each trigger begins, when each notification was last enqueued, what each trigger remembers, and the
 * uploads for which a trigger could not be evaluated. The last three change in the transaction that enqueues the messages (I11).
 */

export const triggersDdl: readonly string[] = [
  'create table trigger_cursors (name text primary key, position bigint not null)',
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
];

export const triggersV15: readonly string[] = [
  `create table trigger_states (
    part_id text not null,
    trigger_name text not null,
    state text not null,
    primary key (part_id, trigger_name)
  )`,
];

export interface TriggersTables {
  /** The trigger applies to rows after `position`; a trigger without a row applies to all rows. */
  trigger_starts: { part_id: string; trigger_name: string; position: number };
  /** When (time of the event, ms) the notification, identified by a hash of its type and target, was last enqueued. */
  trigger_throttles: { part_id: string; trigger_name: string; notification: string; last_event_at: number };
  /** JSON: `rule` and `told` of a TriggerState. A trigger that remembers nothing has no row. */
  trigger_states: { part_id: string; trigger_name: string; state: string };
  /** `trigger_name` is empty for rows that earlier versions could not decode. */
  trigger_damaged_rows: { position: number; trigger_name: string; part_id: string; reason: string; at: number };
}

/** Tables of machine logs: lines, daily totals of each part, and the parts whose lines are being deleted. */
import type { Generated, Kysely, Transaction } from 'kysely';
import { type CheckedTable, checkedIn } from '../../metadata/row-checks/checked-table.ts';
import type { Schema } from '../../metadata/sqlite/writer-protocol.ts';

export interface MachineLogsTables {
  machine_logs: {
    id: Generated<number>;
    part_id: string;
    /** By the machine's clock. */
    time_ms: number;
    /** In lower case. */
    level: string;
    logger_name: string;
    host: string;
    message: string;
    /** JSON of fields that are never queried: a LineDetail. */
    detail: string;
    /** By our clock; retention counts from here. */
    received_ms: number;
  };
  /** What a part has stored on a UTC day; days count from 1970. */
  machine_log_days: { part_id: string; day: number; lines: number; bytes: number };
  /** Deleted parts, until all their lines are deleted. */
  machine_log_removals: { part_id: string };
  /** Bytes that the machines of an organization sent in an hour (UTC). Stays when the lines or the machines are deleted. */
  machine_log_usage: { organization_id: string; hour: number; bytes: number };
}

export type MachineLogsDatabase = Kysely<MachineLogsTables>;
export type MachineLogsTransaction = Transaction<MachineLogsTables>;

const statements: readonly string[] = [
  'create table machine_logs (id integer primary key, part_id text not null, time_ms bigint not null, level text not null, logger_name text not null, host text not null, message text not null, detail text not null, received_ms bigint not null default 0)',
  // Log triggers read the lines that arrived after their last check.
  'create index machine_logs_by_arrival on machine_logs (part_id, id)',
  'create index machine_logs_by_received on machine_logs (received_ms)',
  'create index machine_logs_by_time on machine_logs (part_id, time_ms, id)',
  'create table machine_log_days (part_id text not null, day integer not null, lines bigint not null, bytes bigint not null, primary key (part_id, day))',
  'create table machine_log_removals (part_id text primary key)',
  'create table machine_log_usage (organization_id text not null, hour bigint not null, bytes bigint not null, row_check text, primary key (organization_id, hour))',
];

const checked = checkedIn(statements);

/** A day of an organization is a set. */
export const logUsage: CheckedTable = checked('machine_log_usage', 'bytes of logs of organization', {
  owner: 'organization_id',
  time: 'hour',
  usPerTime: 1_000,
});

export const logsSchema: Schema = {
  statements,
  checked: [logUsage],
};

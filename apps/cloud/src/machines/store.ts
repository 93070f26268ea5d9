/** Tables of machines: parts and their secrets, configuration versions, logs. */
import type { SealedColumn } from '../instance/sealed-column.ts';

export interface MachinesTables {
  machines: { id: string; location_id: string; name: string; created_ms: number };
  parts: {
    id: string;
    machine_id: string;
    name: string;
    main: number;
    created_ms: number;
    /** Raised when secrets are revoked: tokens of older epochs stop (D5). */
    epoch: number;
    /** Set by an owner who wants a restart, cleared when the machine-server was told. */
    restart_requested_ms: number | null;
    /** The last contact that was written down; the living value is in memory. */
    last_seen_ms: number | null;
  };
  part_secrets: { id: string; part_id: string; secret_hash: Uint8Array; secret: Uint8Array; created_ms: number };
  /** Every save is a version; `document` keeps the bytes that the user saved (D2). */
  part_configurations: { part_id: string; version: number; document: string; author: string; created_ms: number };
}

export const machinesDdl: readonly string[] = [
  `create table machines (id text primary key, location_id text not null references locations (id), name text not null, created_ms bigint not null)`,
  `create index machines_by_location on machines (location_id)`,
  `create table parts (id text primary key, machine_id text not null references machines (id), name text not null, main integer not null, created_ms bigint not null, epoch integer not null default 1, restart_requested_ms bigint, last_seen_ms bigint)`,
  `create index parts_by_machine on parts (machine_id)`,
  `create table part_secrets (id text primary key, part_id text not null references parts (id), secret_hash blob not null unique, secret blob not null, created_ms bigint not null)`,
  `create table part_configurations (part_id text not null references parts (id), version integer not null, document text not null, author text not null, created_ms bigint not null, primary key (part_id, version))`,
  `create table machine_logs (id integer primary key, part_id text not null, time_ms bigint not null, level text not null, logger_name text not null, host text not null, message text not null, detail text not null)`,
  `create index machine_logs_by_part on machine_logs (part_id, time_ms)`,
];

/** What version 2 of the data directory adds. */
export const machinesV2: readonly string[] = [];

/** What is sealed with the instance key. */
export const machinesSealed: readonly SealedColumn[] = [
  { table: 'part_secrets', key: ['id'], sealed: 'secret', hash: 'secret_hash' },
];

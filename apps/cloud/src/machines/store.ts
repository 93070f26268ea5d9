/** Tables of machines: parts and their secrets, configuration versions, logs, favorites. */
import type { Generated } from 'kysely';
import type { SealedColumn, SealedDocument } from '../instance/sealed-column.ts';
import { type CheckedTable, checkedIn } from '../metadata/row-checks/checked-table.ts';
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

export interface MachinesTables {
  machines: {
    id: string;
    location_id: string;
    name: string;
    created_ms: number;
    /** JSON object defined by the owners. */
    metadata: Generated<string>;
  };
  parts: {
    id: string;
    machine_id: string;
    name: string;
    main: number;
    created_ms: number;
    /** The highest epoch that any secret of the part ever had; never decreases. */
    epoch: number;
    /** Set when an owner requests a restart, cleared when the machine-server has received the request. */
    restart_requested_ms: number | null;
    /** JSON object defined by the owners. */
    metadata: Generated<string>;
  };
  part_secrets: {
    id: string;
    part_id: string;
    secret_hash: Uint8Array;
    secret: Uint8Array;
    created_ms: number;
    /** Unique among the part's secrets: tokens name it, and stop working when the secret is deleted (D5). */
    epoch: Generated<number>;
  };
  /** Every save is a version; `document` holds the bytes that the user saved (D2). */
  part_configurations: {
    part_id: string;
    /** From 1, without gaps. */
    version: number;
    document: string;
    /** UTF-8 size of the document. */
    bytes: number;
    /** The author as text: the kind, then the name, or the id if there is none. */
    author: string;
    created_ms: number;
    /** `person`, `api-key`, `part`, `admin` or `platform`. */
    author_kind: string;
    author_id: string;
    /** Hash of the effective document when it was saved (D10). */
    revision: string;
    /** The version that this one restored; 0: none. */
    restored_from: number;
  };
  /** What a part runs, as far as reported. Written when it changes, not at every poll. */
  part_status: {
    part_id: string;
    fetched_revision: string;
    fetched_ms: number;
    applied_revision: string;
    applied_ms: number;
    held_revision: string;
    held_ms: number;
    /** The reason that the part gave; empty: none. */
    held_reason: string;
    /** When the long hold was reported in the log; 0: not yet. */
    held_told_ms: number;
    /** The held revision that an owner forced; empty: none. */
    forced_revision: string;
    forced_ms: number;
    last_error: string;
    last_error_ms: number;
    server_version: string;
    platform: string;
    os: string;
    /** The last reported state of capture and sync, as JSON; empty: never reported. */
    data_status: Generated<string>;
    data_status_ms: Generated<number>;
  };
  /** Favorite machines of a person. A row says nothing about the person's right to see the machine. */
  favorite_machines: { person_id: string; machine_id: string; added_ms: number };
}

const statements: readonly string[] = [
  "create table machines (id text primary key, location_id text not null references locations (id), name text not null, created_ms bigint not null, metadata text not null default '{}', row_check text)",
  'create index machines_by_location on machines (location_id)',
  "create table parts (id text primary key, machine_id text not null references machines (id), name text not null, main integer not null, created_ms bigint not null, epoch integer not null default 1, restart_requested_ms bigint, metadata text not null default '{}', row_check text)",
  'create index parts_by_machine on parts (machine_id)',
  'create table part_secrets (id text primary key, part_id text not null references parts (id), secret_hash blob not null unique, secret blob not null, created_ms bigint not null, epoch integer not null default 1, row_check text)',
  'create index part_secrets_by_part on part_secrets (part_id)',
  'create table part_configurations (part_id text not null references parts (id), version integer not null, document text not null, author text not null, created_ms bigint not null, bytes integer not null, author_kind text not null, author_id text not null, revision text not null, restored_from integer not null, row_check text, primary key (part_id, version))',
  // Kept bytes of a part's history are summed each hour for billing, without reading the documents.
  "create index part_configurations_kept on part_configurations (part_id, bytes) where document <> ''",
  "create table part_status (part_id text primary key references parts (id), fetched_revision text not null, fetched_ms bigint not null, applied_revision text not null, applied_ms bigint not null, held_revision text not null, held_ms bigint not null, held_reason text not null, held_told_ms bigint not null, forced_revision text not null, forced_ms bigint not null, last_error text not null, last_error_ms bigint not null, server_version text not null, platform text not null, os text not null, data_status text not null default '', data_status_ms bigint not null default 0)",
  'create table favorite_machines (person_id text not null references people (id) on delete cascade, machine_id text not null references machines (id) on delete cascade, added_ms bigint not null, primary key (person_id, machine_id))',
  'create index favorite_machines_by_machine on favorite_machines (machine_id)',
];

const checked = checkedIn(statements);

/** Rows that decide who sees a machine, and what may act for it. Times of contact, requests and metadata decide nothing. */
export const checkedMachines: CheckedTable = checked('machines', 'machine', {
  uncovered: ['metadata'],
  owner: 'location_id',
});

export const checkedParts: CheckedTable = checked('parts', 'part', {
  uncovered: ['restart_requested_ms', 'metadata'],
  owner: 'machine_id',
});

export const checkedPartSecrets: CheckedTable = checked('part_secrets', 'secret of a part', { owner: 'part_id' });

/** Rows that decide what runs on a machine. The checksum covers the document as it is stored. */
export const checkedConfigurations: CheckedTable = checked('part_configurations', 'configuration of part', {
  columns: [
    ...['part_id', 'version', 'document', 'bytes', 'author', 'created_ms', 'author_kind', 'author_id', 'revision'],
    'restored_from',
  ],
  owner: 'part_id',
});

/** Columns sealed with the instance key. */
export const machinesSealed: readonly SealedColumn[] = [
  { table: 'part_secrets', key: ['id'], sealed: 'secret', hash: 'secret_hash' },
];

export const machinesSealedDocument: SealedDocument = {
  table: 'part_configurations',
  key: ['part_id', 'version'],
  column: 'document',
};

export const machinesSchema: Schema = {
  statements,
  checked: [checkedMachines, checkedParts, checkedPartSecrets, checkedConfigurations],
};

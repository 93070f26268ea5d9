/** Tables of access: API keys, the roles of keys and people, and the audit trail. */
import type { Generated } from 'kysely';
import type { SealedColumn } from '../instance/sealed-column.ts';
import { type CheckedTable, checkedIn } from '../metadata/row-checks/checked-table.ts';
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

/** Times are milliseconds since 1970 UTC; secrets are sealed with the instance key and found by its keyed hash (D6). */
export interface AccessTables {
  api_keys: {
    id: string;
    name: string;
    secret_hash: Uint8Array;
    secret: Uint8Array;
    /** Increased by rotation and revocation: tokens of older epochs stop working (D5). */
    epoch: Generated<number>;
    created_ms: number;
    revoked_ms: number | null;
    /** Null: never. */
    expires_ms: number | null;
    /** To the minute, written only periodically; null: never used. */
    last_used_ms: number | null;
    rotated_ms: number | null;
  };
  grants: {
    identity_id: string;
    identity_type: 'api-key' | 'person';
    role: 'owner' | 'operator';
    organization_id: string;
    /** Null: the whole organization. */
    location_id: string | null;
    /** Null: the whole location. */
    robot_id: string | null;
  };
  /** Secrets of rotated keys; each works until its overlap ends (D5). The current secret is in `api_keys`. */
  former_key_secrets: {
    key_id: string;
    epoch: number;
    secret_hash: Uint8Array;
    secret: Uint8Array;
    ends_ms: number;
  };
  /**
   * Append-only: one row for every change of state, written in the transaction that makes the change. Only the detail of an open entry may
   * change (counted-entries.ts).
   */
  audit_entries: {
    id: Generated<number>;
    at_ms: number;
    /** `person`, `api-key`, `part`, `admin`, `platform`; for calls that a machine reports, as it knows its caller. */
    actor_kind: string;
    actor_id: string;
    actor_name: string;
    action: string;
    /** Null: the installation itself. */
    organization_id: string | null;
    target_kind: string;
    target_id: string;
    /** JSON; never a secret. */
    detail: string;
    peer_address: string;
    /** 0: final. 1: open, calls are still counted. 2: final, but not yet in the chain, although later entries may be. */
    stage: Generated<number>;
    /** Null, or the part and the id under which a machine reported it: a report that is sent again adds nothing. */
    report_id: Generated<string | null>;
  };
  /** Append-only: hashes over the audit trail (audit-chain.ts). */
  audit_chain: {
    /** 1, 2, … */
    link: number;
    entry_id: number;
    /** SHA-256 over the previous link and the entry, hexadecimal. */
    hash: string;
  };
}

export const accessSealed: readonly SealedColumn[] = [
  { table: 'api_keys', key: ['id'], sealed: 'secret', hash: 'secret_hash' },
  { table: 'former_key_secrets', key: ['key_id', 'epoch'], sealed: 'secret', hash: 'secret_hash' },
];

/**
 * Triggers that keep a table append-only in the database itself, in the SQL of each store.
 *
 * @param except rows of which columns that are not `fixed` may change, unless `refused` holds
 */
function appendOnly(
  table: string,
  except?: { readonly refused: string; readonly fixed: readonly string[] },
): { readonly sqlite: readonly string[]; readonly postgres: readonly string[] } {
  const refused = [
    { name: 'update', on: 'update', when: except === undefined ? '' : `when (${except.refused})` },
    ...(except === undefined ? [] : [{ name: 'rewrite', on: `update of ${except.fixed.join(', ')}`, when: '' }]),
    { name: 'delete', on: 'delete', when: '' },
  ];
  return {
    sqlite: refused.map(
      ({ name, on, when }) =>
        `create trigger ${table}_no_${name} before ${on} on ${table} ${when} begin select raise(abort, '${table} is append-only'); end`,
    ),
    postgres: [
      `create function ${table}_refuse() returns trigger language plpgsql as $$ begin raise exception '${table} is append-only'; end $$`,
      ...refused.map(
        ({ name, on, when }) =>
          `create trigger ${table}_no_${name} before ${on} on ${table} for each row ${when} execute function ${table}_refuse()`,
      ),
      `create trigger ${table}_no_truncate before truncate on ${table} for each statement execute function ${table}_refuse()`,
    ],
  };
}

const auditGuard: ReturnType<typeof appendOnly> = appendOnly('audit_entries', {
  refused: 'old.stage = 0 or new.stage = 1 or (old.stage = 2 and new.detail <> old.detail)',
  fixed: [
    ...['id', 'at_ms', 'actor_kind', 'actor_id', 'actor_name', 'action', 'organization_id'],
    ...['target_kind', 'target_id', 'peer_address', 'report_id'],
  ],
});

const auditChainGuard: ReturnType<typeof appendOnly> = appendOnly('audit_chain');

const statements: readonly string[] = [
  'create table api_keys (id text primary key, name text not null, secret_hash blob not null unique, secret blob not null, epoch integer not null default 1, created_ms bigint not null, revoked_ms bigint, expires_ms bigint, last_used_ms bigint, rotated_ms bigint, row_check text)',
  'create table grants (identity_id text not null, identity_type text not null, role text not null, organization_id text not null references organizations (id), location_id text references locations (id), robot_id text, row_check text)',
  'create index grants_by_identity on grants (identity_id)',
  'create index grants_by_organization on grants (organization_id)',
  'create table former_key_secrets (key_id text not null, epoch integer not null, secret_hash blob not null unique, secret blob not null, ends_ms bigint not null, row_check text, primary key (key_id, epoch))',
  'create table audit_entries (id integer primary key, at_ms bigint not null, actor_kind text not null, actor_id text not null, actor_name text not null, action text not null, organization_id text, target_kind text not null, target_id text not null, detail text not null, peer_address text not null, stage bigint not null default 0, report_id text)',
  'create index audit_entries_by_organization on audit_entries (organization_id, id)',
  'create index audit_entries_by_stage on audit_entries (stage, id) where stage <> 0',
  'create unique index audit_entries_by_report on audit_entries (report_id) where report_id is not null',
  'create table audit_chain (link bigint primary key, entry_id bigint not null unique, hash text not null)',
];

const checked = checkedIn(statements);

/** Rows that decide who may do what. The time of a key's last use decides nothing. */
export const apiKeys: CheckedTable = checked('api_keys', 'API key', { uncovered: ['last_used_ms'] });

/** A set is the roles of one identity, which are read together. */
export const grants: CheckedTable = checked('grants', 'role of', {
  key: ['identity_type', 'identity_id', 'role', 'organization_id', 'location_id', 'robot_id'],
  isSmall: true,
  owner: 'identity_id',
});

export const accessSchema: Schema = {
  statements,
  sqliteOnly: [...auditGuard.sqlite, ...auditChainGuard.sqlite],
  postgresOnly: [...auditGuard.postgres, ...auditChainGuard.postgres],
  checked: [apiKeys, grants, checked('former_key_secrets', 'former secret of key', { owner: 'key_id' })],
};

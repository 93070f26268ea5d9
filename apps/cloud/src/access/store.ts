/** Tables of access: the audit trail, and the secrets of keys that were rotated. Keys and grants stand with the accounts that they open. */
import type { Generated } from 'kysely';
import type { SealedColumn } from '../instance/sealed-column.ts';

export interface AccessTables {
  /** Secrets of rotated keys, each working until its overlap ends (D5); the current one stands in `api_keys`. */
  former_key_secrets: {
    key_id: string;
    epoch: number;
    secret_hash: Uint8Array;
    secret: Uint8Array;
    ends_ms: number;
  };
  /** Append-only: every change of state, written in the transaction that makes it. */
  audit_entries: {
    id: Generated<number>;
    at_ms: number;
    actor_kind: 'person' | 'api-key' | 'part' | 'admin' | 'platform';
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
  };
}

export const accessV2: readonly string[] = [
  `alter table api_keys add column expires_ms bigint`,
  `alter table api_keys add column last_used_ms bigint`,
  `alter table api_keys add column rotated_ms bigint`,
  `create index grants_by_organization on grants (organization_id)`,
  `create table former_key_secrets (key_id text not null, epoch integer not null, secret_hash blob not null unique, secret blob not null, ends_ms bigint not null, primary key (key_id, epoch))`,
  `create table audit_entries (id integer primary key, at_ms bigint not null, actor_kind text not null, actor_id text not null, actor_name text not null, action text not null, organization_id text, target_kind text not null, target_id text not null, detail text not null, peer_address text not null)`,
  `create index audit_entries_by_organization on audit_entries (organization_id, id)`,
];

export const accessSealed: readonly SealedColumn[] = [
  { table: 'former_key_secrets', key: ['key_id', 'epoch'], sealed: 'secret', hash: 'secret_hash' },
];

/** What keeps the audit trail append-only in the database itself; the two stores say it in their own words. */
export const auditGuard: { readonly sqlite: readonly string[]; readonly postgres: readonly string[] } = {
  sqlite: [
    `create trigger audit_entries_no_update before update on audit_entries begin select raise(abort, 'audit_entries is append-only'); end`,
    `create trigger audit_entries_no_delete before delete on audit_entries begin select raise(abort, 'audit_entries is append-only'); end`,
  ],
  postgres: [
    `create function audit_entries_refuse() returns trigger language plpgsql as $$ begin raise exception 'audit_entries is append-only'; end $$`,
    `create trigger audit_entries_no_change before update or delete or truncate on audit_entries for each statement execute function audit_entries_refuse()`,
  ],
};

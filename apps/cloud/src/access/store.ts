/** Tables of access: the audit trail. Keys and grants stand with the accounts that they open. */
import type { Generated } from 'kysely';

export interface AccessTables {
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
  `create table audit_entries (id integer primary key, at_ms bigint not null, actor_kind text not null, actor_id text not null, actor_name text not null, action text not null, organization_id text, target_kind text not null, target_id text not null, detail text not null, peer_address text not null)`,
  `create index audit_entries_by_organization on audit_entries (organization_id, id)`,
];

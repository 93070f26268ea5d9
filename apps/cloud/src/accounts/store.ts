/** Tables of the account tree: organizations, locations, people, keys and what they may do. */
import type { Generated } from 'kysely';
import type { SealedColumn } from '../instance/sealed-column.ts';

/** Times are milliseconds since 1970 UTC; secrets are sealed with the instance key and found by its keyed hash (D6). */
export interface AccountsTables {
  organizations: { id: string; name: string; created_ms: number; webhook_secret: Uint8Array };
  locations: { id: string; organization_id: string; parent_id: string | null; name: string; created_ms: number };
  location_secrets: { id: string; location_id: string; secret: Uint8Array; created_ms: number };
  people: {
    id: string;
    /** Trimmed, in lower case; null until the first owner has said hers. */
    email: string | null;
    name: string;
    created_ms: number;
    /** 1 once the person has proven that the address is hers. */
    email_verified: Generated<number>;
    last_sign_in_ms: number | null;
  };
  api_keys: {
    id: string;
    name: string;
    secret_hash: Uint8Array;
    secret: Uint8Array;
    /** Raised by rotation and revocation: tokens of older epochs stop (D5). */
    epoch: Generated<number>;
    created_ms: number;
    revoked_ms: number | null;
    /** Null: never. */
    expires_ms: number | null;
    /** To the minute, written coarsely; null: never used. */
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
  /** Secrets of the installation itself, by name, sealed. */
  instance_secrets: { name: string; secret: Uint8Array };
}

export const accountsDdl: readonly string[] = [
  `create table organizations (id text primary key, name text not null, created_ms bigint not null, webhook_secret blob not null)`,
  `create table locations (id text primary key, organization_id text not null references organizations (id), parent_id text references locations (id), name text not null, created_ms bigint not null)`,
  `create index locations_by_organization on locations (organization_id)`,
  `create table location_secrets (id text primary key, location_id text not null references locations (id), secret blob not null, created_ms bigint not null)`,
  `create table people (id text primary key, email text unique, name text not null, created_ms bigint not null)`,
  `create table api_keys (id text primary key, name text not null, secret_hash blob not null unique, secret blob not null, epoch integer not null default 1, created_ms bigint not null, revoked_ms bigint)`,
  `create table grants (identity_id text not null, identity_type text not null, role text not null, organization_id text not null references organizations (id), location_id text references locations (id), robot_id text)`,
  `create index grants_by_identity on grants (identity_id)`,
  `create table instance_secrets (name text primary key, secret blob not null)`,
];

/** What version 2 of the data directory adds. */
export const accountsV2: readonly string[] = [];

/** What is sealed with the instance key. */
export const accountsSealed: readonly SealedColumn[] = [
  { table: 'organizations', key: ['id'], sealed: 'webhook_secret' },
  { table: 'location_secrets', key: ['id'], sealed: 'secret' },
  { table: 'api_keys', key: ['id'], sealed: 'secret', hash: 'secret_hash' },
  { table: 'instance_secrets', key: ['name'], sealed: 'secret' },
];

/** Tables of the account tree: organizations, locations, sharing, and settings of organizations. */
import type { Generated } from 'kysely';
import type { SealedColumn } from '../instance/sealed-column.ts';
import { type CheckedTable, checkedIn } from '../metadata/row-checks/checked-table.ts';
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

/** Times are milliseconds since 1970 UTC; secrets are sealed with the instance key and found by its keyed hash (D6). */
export interface AccountsTables {
  organizations: {
    id: string;
    name: string;
    created_ms: number;
    webhook_secret: Uint8Array;
    /** Unique in the installation; null: none. */
    public_namespace: string | null;
    /** A label; empty: none. */
    default_region: Generated<string>;
    /** The organization's id in an external billing system. */
    cid: string | null;
    /** JSON of a FragmentImportList: the fragments that new machines start with; null: none. */
    default_fragments: string | null;
    /** JSON: the names of the allowed sign-in methods; null: all. */
    login_methods: string | null;
    /** Empty: none. */
    support_email: Generated<string>;
    /** In which notifications by e-mail write times, an IANA name; empty: UTC. */
    time_zone: Generated<string>;
  };
  locations: {
    id: string;
    organization_id: string;
    parent_id: string | null;
    name: string;
    created_ms: number;
    /** A label; empty: that of the organization. */
    region: Generated<string>;
  };
  /** A location shared with another organization. Not a foreign key: sharing must not reveal whether the organization exists. */
  location_shares: { location_id: string; organization_id: string; created_ms: number };
  /** `data`: JSON of an object, at most 1 MiB. */
  organization_metadata: { organization_id: string; data: string };
  location_metadata: { location_id: string; data: string };
  /** `id` is the random last segment of the logo's address; each logo gets a new one. */
  organization_logos: { organization_id: string; id: string; media_type: string; image: Uint8Array };
  /** A row exists while the billing service is enabled. `address`: JSON of a BillingAddress. */
  billing_services: { organization_id: string; address: string; enabled_ms: number };
  /** Credentials of the push provider, sealed. */
  push_configurations: { organization_id: string; app_id: string; credentials: Uint8Array; set_ms: number };
  device_push_tokens: { person_id: string; app_id: string; device_uuid: string; token: string; set_ms: number };
  /** Keys that still sign an organization's webhooks after a rotation. */
  former_webhook_secrets: { organization_id: string; secret: Uint8Array; ends_ms: number };
  /** The host's credentials for the platform's own mobile app, sealed; at most one row. */
  host_push_credentials: { id: number; credentials: Uint8Array; set_ms: number };
  location_secrets: { id: string; location_id: string; secret: Uint8Array; created_ms: number };
}

/** Columns sealed with the instance key. */
export const accountsSealed: readonly SealedColumn[] = [
  { table: 'organizations', key: ['id'], sealed: 'webhook_secret' },
  { table: 'location_secrets', key: ['id'], sealed: 'secret' },
  { table: 'push_configurations', key: ['organization_id'], sealed: 'credentials' },
  { table: 'former_webhook_secrets', key: ['organization_id', 'ends_ms'], sealed: 'secret' },
  { table: 'host_push_credentials', key: ['id'], sealed: 'credentials' },
];

const statements: readonly string[] = [
  "create table organizations (id text primary key, name text not null, created_ms bigint not null, webhook_secret blob not null, public_namespace text, default_region text not null default '', cid text, default_fragments text, login_methods text, support_email text not null default '', time_zone text not null default '', row_check text)",
  'create unique index organizations_by_namespace on organizations (public_namespace)',
  "create table locations (id text primary key, organization_id text not null references organizations (id), parent_id text references locations (id), name text not null, created_ms bigint not null, region text not null default '', row_check text)",
  'create index locations_by_organization on locations (organization_id)',
  'create index locations_by_parent on locations (parent_id)',
  'create table location_secrets (id text primary key, location_id text not null references locations (id), secret blob not null, created_ms bigint not null, row_check text)',
  'create index location_secrets_by_location on location_secrets (location_id)',
  'create table location_shares (location_id text not null references locations (id), organization_id text not null, created_ms bigint not null, row_check text, primary key (location_id, organization_id))',
  'create table organization_metadata (organization_id text primary key references organizations (id), data text not null)',
  'create table location_metadata (location_id text primary key references locations (id), data text not null)',
  'create table organization_logos (organization_id text primary key references organizations (id), id text not null unique, media_type text not null, image blob not null)',
  'create table billing_services (organization_id text primary key references organizations (id), address text not null, enabled_ms bigint not null, row_check text)',
  'create table push_configurations (organization_id text primary key references organizations (id), app_id text not null, credentials blob not null, set_ms bigint not null)',
  'create table device_push_tokens (person_id text not null references people (id), app_id text not null, device_uuid text not null, token text not null, set_ms bigint not null, primary key (person_id, app_id, device_uuid))',
  'create index device_push_tokens_by_token on device_push_tokens (token)',
  'create table host_push_credentials (id integer primary key, credentials blob not null, set_ms bigint not null)',
  'create table former_webhook_secrets (organization_id text not null references organizations (id), secret blob not null, ends_ms bigint not null, primary key (organization_id, ends_ms))',
];

const checked = checkedIn(statements);

/** Rows that decide who sees what. */
export const locations: CheckedTable = checked('locations', 'location', { owner: 'organization_id' });

export const locationShares: CheckedTable = checked('location_shares', 'share of location', {
  owner: 'organization_id',
});

/** Rows that decide who bills others, and from which address. */
export const billingServices: CheckedTable = checked('billing_services', 'billing service of organization', {
  owner: 'organization_id',
});

export const accountsSchema: Schema = {
  statements,
  checked: [
    billingServices,
    locations,
    locationShares,
    checked('organizations', 'organization', { owner: 'id' }),
    checked('location_secrets', 'location secret', { owner: 'location_id' }),
  ],
};

/** Tables of people: accounts, passwords, external identities, sessions, one-time links, invitations. */
import type { Generated } from 'kysely';
import { type CheckedTable, checkedIn } from '../metadata/row-checks/checked-table.ts';
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

/**
 * Times are milliseconds since 1970 UTC. Values that are only compared are stored hashed (D6): SHA-256 of random tokens, argon2id of
 * passwords.
 */
export interface IdentityTables {
  people: {
    id: string;
    /** Trimmed, in lower case; null until the first owner has set it. */
    email: string | null;
    name: string;
    created_ms: number;
    /** 1 once the person has proven that they own the address. */
    email_verified: Generated<number>;
    last_sign_in_ms: number | null;
    /** In which mails to the person write times, an IANA name; empty: as the organization. */
    time_zone: Generated<string>;
  };
  /** A person without a row has no password. */
  passwords: { person_id: string; hash: string; changed_ms: number };
  /** A person's identity at an OpenID provider. */
  person_identities: { issuer: string; subject: string; person_id: string; created_ms: number };
  sessions: {
    id: string;
    token_hash: Uint8Array;
    person_id: string;
    kind: 'browser' | 'cli';
    created_ms: number;
    /** Updated at most once a minute. */
    last_used_ms: number;
    expires_ms: number;
    /** The address from which it was begun. */
    peer_address: string;
  };
  /** A used link is deleted. */
  one_time_links: {
    token_hash: Uint8Array;
    purpose: 'sign-in' | 'reset' | 'cli';
    person_id: string;
    /** For `cli` codes: SHA-256 of the command line's verifier, base64url. */
    challenge: string | null;
    /** The link was mailed to the person's address, so using it proves the address. */
    mailed: number;
    created_ms: number;
    expires_ms: number;
  };
  invitations: {
    organization_id: string;
    email: string;
    token_hash: Uint8Array;
    /** JSON: the grants that the accepting person receives. */
    grants: string;
    invited_by: string;
    /** 1: the token was sent only to the address, so using it proves the address. */
    mailed: number;
    created_ms: number;
    expires_ms: number;
  };
  /** Invitation mails of the last day, for the daily limits. `sent_by`: the id of the person or the key. */
  invitation_mails: {
    id: Generated<number>;
    organization_id: string;
    recipient: string;
    sent_by: string;
    sent_ms: number;
  };
  /** When people joined organizations by invitation. A person is a member by having a grant. */
  organization_joins: { organization_id: string; person_id: string; joined_ms: number };
}

const statements: readonly string[] = [
  "create table people (id text primary key, email text unique, name text not null, created_ms bigint not null, email_verified integer not null default 0, last_sign_in_ms bigint, time_zone text not null default '', row_check text)",
  'create table passwords (person_id text primary key references people (id), hash text not null, changed_ms bigint not null, row_check text)',
  'create table person_identities (issuer text not null, subject text not null, person_id text not null references people (id), created_ms bigint not null, row_check text, primary key (issuer, subject))',
  'create index person_identities_by_person on person_identities (person_id)',
  'create table sessions (id text primary key, token_hash blob not null unique, person_id text not null references people (id), kind text not null, created_ms bigint not null, last_used_ms bigint not null, expires_ms bigint not null, peer_address text not null, row_check text)',
  'create index sessions_by_expiry on sessions (expires_ms)',
  'create index sessions_by_person on sessions (person_id)',
  'create table one_time_links (token_hash blob primary key, purpose text not null, person_id text not null references people (id), challenge text, mailed integer not null default 0, created_ms bigint not null, expires_ms bigint not null, row_check text)',
  'create index one_time_links_by_person on one_time_links (person_id)',
  'create table invitations (organization_id text not null, email text not null, token_hash blob not null unique, grants text not null, invited_by text not null, mailed integer not null default 0, created_ms bigint not null, expires_ms bigint not null, row_check text, primary key (organization_id, email))',
  'create index invitations_by_email on invitations (email)',
  'create table invitation_mails (id integer primary key, organization_id text not null, recipient text not null, sent_by text not null, sent_ms bigint not null)',
  'create index invitation_mails_by_organization on invitation_mails (organization_id, sent_ms)',
  'create index invitation_mails_by_recipient on invitation_mails (recipient, sent_ms)',
  'create table organization_joins (organization_id text not null, person_id text not null references people (id), joined_ms bigint not null, primary key (organization_id, person_id))',
];

const checked = checkedIn(statements);

/** Rows that decide who somebody is. Times of the last use decide nothing. */
export const sessions: CheckedTable = checked('sessions', 'session', {
  uncovered: ['last_used_ms'],
  owner: 'person_id',
});

export const identitySchema: Schema = {
  statements,
  checked: [
    sessions,
    checked('people', 'person', { uncovered: ['last_sign_in_ms'] }),
    checked('passwords', 'password of person', { owner: 'person_id' }),
    checked('person_identities', 'sign-in of person', { owner: 'person_id' }),
    checked('one_time_links', 'link of person', {
      key: ['person_id', 'purpose', 'created_ms'],
      isSmall: true,
      owner: 'person_id',
    }),
    checked('invitations', 'invitation to organization', { owner: 'organization_id' }),
  ],
};

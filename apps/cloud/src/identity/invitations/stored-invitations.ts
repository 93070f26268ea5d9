/**
 * Stored invitations.
 *
 * States: pending → accepted | deleted | expired; in all three the row is deleted (later, if expired). A new link replaces the previous
 * one.
 */
import type { Clock } from '@platform/base';
import type { Grant } from '../../access/principal.ts';
import type { Database } from '../../metadata/tables.ts';
import { hashToken, newToken } from '../sign-in/token.ts';
import type { IdentityTables } from '../store.ts';

export const invitationLifeMs: number = 7 * 86_400_000;

export interface Invitation {
  readonly organizationId: string;
  readonly email: string;
  readonly grants: readonly Grant[];
  /** The link was sent only to the address, so using it proves the address. */
  readonly mailed: boolean;
  readonly createdMs: number;
  readonly expiresMs: number;
}

export async function findInvitation(
  db: Database,
  clock: Clock,
  by: { organizationId: string; email: string } | { token: string },
): Promise<Invitation | undefined> {
  const pending = pendingInvitations(db, clock);
  const row = await ('token' in by
    ? pending.where('token_hash', '=', hashToken(by.token))
    : pending.where('organization_id', '=', by.organizationId).where('email', '=', by.email)
  ).executeTakeFirst();
  return row && invitationOf(row);
}

export async function invitationsIn(db: Database, clock: Clock, organizationId: string): Promise<Invitation[]> {
  const rows = await pendingInvitations(db, clock)
    .where('organization_id', '=', organizationId)
    .orderBy('created_ms')
    .orderBy('email')
    .execute();
  return rows.map(invitationOf);
}

export async function invitationsOf(db: Database, clock: Clock, email: string): Promise<Invitation[]> {
  const rows = await pendingInvitations(db, clock).where('email', '=', email).execute();
  return rows.map(invitationOf);
}

/** Stores a new invitation; replaces an expired one. Returns the token of its link. */
export async function insertInvitation(
  trx: Database,
  clock: Clock,
  invitation: Pick<Invitation, 'organizationId' | 'email' | 'grants' | 'mailed'> & { invitedBy: string },
): Promise<string> {
  const { organizationId, email, grants, mailed, invitedBy } = invitation;
  const { token, hash } = newToken();
  const nowMs = clock.now();
  await deleteInvitation(trx, organizationId, email);
  await trx
    .insertInto('invitations')
    .values({
      organization_id: organizationId,
      email,
      token_hash: hash,
      grants: JSON.stringify(grants),
      invited_by: invitedBy,
      mailed: mailed ? 1 : 0,
      created_ms: nowMs,
      expires_ms: nowMs + invitationLifeMs,
    })
    .execute();
  return token;
}

/** Creates a new link with the full lifetime. @param mailed whether it is sent only to the address. */
export async function renewLink(
  trx: Database,
  clock: Clock,
  { organizationId, email }: Pick<Invitation, 'organizationId' | 'email'>,
  mailed: boolean,
): Promise<{ token: string; expiresMs: number }> {
  const { token, hash } = newToken();
  const expiresMs = clock.now() + invitationLifeMs;
  await trx
    .updateTable('invitations')
    .set({ token_hash: hash, mailed: mailed ? 1 : 0, expires_ms: expiresMs })
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
    .execute();
  return { token, expiresMs };
}

/** @param createdMs absent: unchanged. */
export async function replaceGrants(
  trx: Database,
  { organizationId, email }: Pick<Invitation, 'organizationId' | 'email'>,
  grants: readonly Grant[],
  createdMs?: number,
): Promise<void> {
  await trx
    .updateTable('invitations')
    .set({ grants: JSON.stringify(grants), ...(createdMs !== undefined && { created_ms: createdMs }) })
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
    .execute();
}

/** Returns false if there was none. */
export async function deleteInvitation(trx: Database, organizationId: string, email: string): Promise<boolean> {
  const rows = await trx
    .deleteFrom('invitations')
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
    .returning('email')
    .execute();
  return rows.length > 0;
}

function pendingInvitations(db: Database, clock: Clock) {
  return db.selectFrom('invitations').selectAll().where('expires_ms', '>', clock.now());
}

function invitationOf(row: IdentityTables['invitations']): Invitation {
  return {
    organizationId: row.organization_id,
    email: row.email,
    grants: JSON.parse(row.grants),
    mailed: row.mailed === 1,
    createdMs: row.created_ms,
    expiresMs: row.expires_ms,
  };
}

/** Accepts an invitation: the invited person joins with its roles. */

import {
  alreadyExists,
  failedPrecondition,
  newId,
  type PlatformError,
  permissionDenied,
  unauthenticated,
} from '@platform/base';
import { audit } from '../../access/audit.ts';
import { resourceOf } from '../../access/authorization-on-wire.ts';
import { addGrant } from '../../access/grants.ts';
import type { Grant } from '../../access/principal.ts';
import { proven } from '../../access/too-many-guesses.ts';
import type { Database } from '../../metadata/tables.ts';
import { checkedName } from '../../text-rules/checked-name.ts';
import type { IdentityOperationDeps } from '../identity-deps.ts';
import { asCaller, findPerson, type Person } from '../people.ts';
import { beginSession } from '../sign-in/begin-session.ts';
import { claimUnverifiedAccount } from '../sign-in/claim-unverified-account.ts';
import { checkedPassword, hashPassword } from '../sign-in/hash-password.ts';
import { requirePasswordAllowed } from '../sign-in/password-allowed.ts';
import type { NewSession } from '../sign-in/sessions.ts';
import { provePassword } from '../sign-in/sign-in-with-password.ts';
import { deleteInvitation, findInvitation, type Invitation } from './stored-invitations.ts';

const gone =
  'invitation: expected a link that has not been used and has not expired, found another; ask the person who invited you for a new one';

export interface Pending {
  readonly invitation: Invitation;
  readonly organizationName: string;
  /** The person with the invited address; undefined: there is none. */
  readonly person: Person | undefined;
  /**
   * Whether the accepting person chooses a password: no one has the address, or its account never proved it and this link was mailed to it.
   */
  readonly choosesPassword: boolean;
}

/** Reads the invitation of a link. @throws unauthenticated, resource_exhausted */
export async function readInvitation(
  deps: IdentityOperationDeps,
  token: string,
  peerAddress: string,
): Promise<Pending> {
  const guess = { credential: 'invitation', peerAddress, kind: 'secret' } as const;
  const wrong = (): PlatformError => unauthenticated(gone);
  const invitation = await proven(deps.guesses, guess, () => findInvitation(deps.db, deps.clock, { token }), wrong);
  const organization = deps.tree.organization(invitation.organizationId);
  if (organization === undefined) throw wrong();
  const person = await findPerson(deps.db, { email: invitation.email });
  const choosesPassword = person === undefined || isUnproven(person, invitation);
  return { invitation, organizationName: organization.name, person, choosesPassword };
}

function isUnproven(person: Person, invitation: Invitation): boolean {
  return invitation.mailed && !person.emailVerified;
}

/**
 * Adds a new person, with a password of their choice, and signs them in.
 * @throws unauthenticated, invalid_argument, already_exists; permission_denied if passwords are not allowed
 */
export async function acceptAsNewPerson(
  deps: IdentityOperationDeps,
  given: { token: string; name: string; password: string },
  peerAddress: string,
): Promise<NewSession> {
  const { invitation, person: existing } = await readInvitation(deps, given.token, peerAddress);
  if (existing !== undefined && !isUnproven(existing, invitation))
    throw alreadyExists(`${invitation.email} already has an account: sign in with its password`);
  const name = checkedName(given.name, 'your name');
  const hash = await hashPassword(checkedPassword(given.password));
  const session = await deps.db.transaction().execute(async (trx) => {
    const pending = await stillPending(deps, trx, given.token);
    const unproven = pending.mailed ? await findPerson(trx, { email: pending.email }) : undefined;
    if (unproven?.emailVerified === false) await claimUnverifiedAccount(deps, trx, unproven.id);
    const person =
      unproven?.emailVerified === false
        ? { id: unproven.id, email: pending.email }
        : await createPerson(deps, trx, { email: pending.email, name, emailVerified: pending.mailed });
    await trx.insertInto('passwords').values({ person_id: person.id, hash, changed_ms: deps.clock.now() }).execute();
    await join(deps, trx, person, pending, peerAddress);
    await requirePasswordAllowed(deps, trx, person.id);
    return beginSession(deps, trx, person, 'invitation', peerAddress);
  });
  deps.forget();
  return session;
}

/** Adds the person with the invited address, who proves it with their password, and signs them in. @throws like `signInWithPassword` */
export async function acceptWithPassword(
  deps: IdentityOperationDeps,
  given: { token: string; password: string },
  peerAddress: string,
): Promise<NewSession> {
  const { invitation } = await readInvitation(deps, given.token, peerAddress);
  const person = await provePassword(deps, { email: invitation.email, password: given.password }, peerAddress);
  const session = await deps.db.transaction().execute(async (trx) => {
    await join(deps, trx, person, await stillPending(deps, trx, given.token), peerAddress);
    await requirePasswordAllowed(deps, trx, person.id);
    return beginSession(deps, trx, person, 'password', peerAddress);
  });
  deps.forget();
  return session;
}

/** Adds the signed-in person. @throws unauthenticated; permission_denied if the invitation is for someone else */
export async function acceptSignedIn(
  deps: IdentityOperationDeps,
  given: { token: string; personId: string },
  peerAddress: string,
): Promise<void> {
  const { invitation, person } = await readInvitation(deps, given.token, peerAddress);
  if (person?.id !== given.personId)
    throw permissionDenied(
      `invitation: expected the person with the address ${invitation.email}, found someone else signed in; sign out first`,
    );
  await deps.db
    .transaction()
    .execute(async (trx) => join(deps, trx, person, await stillPending(deps, trx, given.token), peerAddress));
  deps.forget();
}

export async function createPerson(
  deps: Pick<IdentityOperationDeps, 'clock'>,
  trx: Database,
  { email, name, emailVerified }: { email: string; name: string; emailVerified: boolean },
): Promise<{ id: string; email: string }> {
  const id = newId();
  // If two links are used at the same time, the second one finds the address taken.
  const row = await trx
    .insertInto('people')
    .values({ id, email, name, created_ms: deps.clock.now(), email_verified: emailVerified ? 1 : 0 })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) throw alreadyExists(`${email} already has an account: sign in to it`);
  return { id, email };
}

/** Adds the roles whose targets still exist, and ends the invitation. @throws failed_precondition if none remain */
export async function join(
  deps: Pick<IdentityOperationDeps, 'access' | 'clock'>,
  trx: Database,
  person: { id: string; email: string },
  invitation: Invitation,
  peerAddress: string,
): Promise<void> {
  const { organizationId, email } = invitation;
  const nowMs = deps.clock.now();
  const grants = invitation.grants.filter((grant) => stands(deps, grant));
  if (grants.length === 0)
    throw failedPrecondition(
      'invitation: what it granted a role on has been deleted; ask the person who invited you for a new one',
    );
  for (const grant of grants) await addGrant(trx, { type: 'person', id: person.id }, grant);
  await trx
    .insertInto('organization_joins')
    .values({ organization_id: organizationId, person_id: person.id, joined_ms: nowMs })
    .onConflict((conflict) => conflict.columns(['organization_id', 'person_id']).doNothing())
    .execute();
  await deleteInvitation(trx, organizationId, email);
  await audit(trx, asCaller(person, peerAddress), nowMs, 'AcceptInvitation', ['person', person.id, organizationId], {
    email,
    grants,
  });
}

function stands(deps: Pick<IdentityOperationDeps, 'access'>, grant: Grant): boolean {
  const { kind, id } = resourceOf(grant);
  return deps.access.lineageOf(kind, id)?.organizationId === grant.organizationId;
}

async function stillPending(deps: IdentityOperationDeps, trx: Database, token: string): Promise<Invitation> {
  const invitation = await findInvitation(trx, deps.clock, { token });
  if (invitation === undefined) throw unauthenticated(gone);
  return invitation;
}

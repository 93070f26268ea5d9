/** Signs in a person whom an OpenID provider identified. Only known or invited people can sign in. */
import { permissionDenied } from '@platform/base';
import { audit } from '../../access/audit.ts';
import type { Database } from '../../metadata/tables.ts';
import { normalEmail } from '../../text-rules/checked-email.ts';
import type { IdentityOperationDeps } from '../identity-deps.ts';
import { createPerson, join } from '../invitations/accept-invitation.ts';
import { invitationsOf } from '../invitations/stored-invitations.ts';
import { asCaller, findPerson, type Person } from '../people.ts';
import { beginSession } from './begin-session.ts';
import { claimUnverifiedAccount } from './claim-unverified-account.ts';
import type { OpenIdPerson } from './open-id.ts';
import type { NewSession } from './sessions.ts';

type Known = Pick<Person, 'id' | 'email'>;

/** @throws permission_denied for people who are neither known nor invited */
export async function signInWithOpenId(
  deps: IdentityOperationDeps,
  who: OpenIdPerson,
  peerAddress: string,
): Promise<NewSession> {
  const session = await deps.db.transaction().execute(async (trx) => {
    const known = await personOfSubject(trx, who);
    const person = known ?? (await linkedByEmail(deps, trx, who, peerAddress));
    return beginSession(deps, trx, person, 'OpenID Connect', peerAddress);
  });
  deps.forget();
  return session;
}

async function personOfSubject(trx: Database, { issuer, subject }: OpenIdPerson): Promise<Known | undefined> {
  const row = await trx
    .selectFrom('person_identities')
    .select('person_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row && findPerson(trx, { id: row.person_id });
}

async function linkedByEmail(
  deps: IdentityOperationDeps,
  trx: Database,
  who: OpenIdPerson,
  peerAddress: string,
): Promise<Known> {
  const email = who.verifiedEmail === undefined ? '' : normalEmail(who.verifiedEmail);
  const existing = email === '' ? undefined : await findPerson(trx, { email });
  const person = existing ?? (email === '' ? undefined : await invited(deps, trx, who, email, peerAddress));
  if (person === undefined)
    throw permissionDenied(
      `OpenID Connect: expected a person who has been invited, found ${email || 'an account without a verified e-mail address'}; ask an owner of an organization for an invitation`,
    );
  if (existing !== undefined && !existing.emailVerified) {
    await claimUnverifiedAccount(deps, trx, existing.id);
  }
  const nowMs = deps.clock.now();
  await trx
    .insertInto('person_identities')
    .values({ issuer: who.issuer, subject: who.subject, person_id: person.id, created_ms: nowMs })
    .execute();
  const detail = { issuer: who.issuer, passwordRemoved: existing !== undefined && !existing.emailVerified };
  await audit(trx, asCaller(person, peerAddress), nowMs, 'LinkOpenId', ['person', person.id, null], detail);
  return person;
}

/** Creates a new person who accepts the invitations of the address; undefined if there are none. */
async function invited(
  deps: IdentityOperationDeps,
  trx: Database,
  who: OpenIdPerson,
  email: string,
  peerAddress: string,
): Promise<Known | undefined> {
  const invitations = (await invitationsOf(trx, deps.clock, email)).filter(
    ({ organizationId }) => deps.tree.organization(organizationId) !== undefined,
  );
  if (invitations.length === 0) return undefined;
  // The provider chose the name, so reduce it to what a name may contain.
  const name =
    who.name
      .replace(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, '')
      .trim()
      .slice(0, 200) || email;
  const person = await createPerson(deps, trx, { email, name, emailVerified: true });
  for (const invitation of invitations) await join(deps, trx, person, invitation, peerAddress);
  return person;
}

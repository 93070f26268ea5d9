/** Uses one-time links: to sign in the first owner, and to set a forgotten password. */
import { unauthenticated } from '@platform/base';
import { proven } from '../../access/too-many-guesses.ts';
import type { MailMessage } from '../../outbox/email/mail.ts';
import type { IdentityOperationDeps } from '../identity-deps.ts';
import { asCaller, findPerson, type Person } from '../people.ts';
import { beginSession } from './begin-session.ts';
import { checkedPassword, hashPassword } from './hash-password.ts';
import { createLink, isValidLink, takeLink } from './links.ts';
import { requirePasswordAllowed } from './password-allowed.ts';
import type { NewSession } from './sessions.ts';
import { setPassword } from './set-password.ts';

/** What each kind of link says once it does not work any more. */
const spent = 'link: expected one that has not been used and has not expired, found another.';
const usedUp = {
  'sign-in link': `${spent} For a new one, restart the cloud: until the first owner has a password, it prints one at each start. After that, sign in with your e-mail and password, or let whoever runs this installation make one with "platform admin organizations create-owner-link ORGANIZATION"`,
  'reset link': `${spent} Request a new one under "Forgot your password?" on the sign-in page`,
} as const;

/** @throws unauthenticated if the link was used, has expired, or never existed. */
export async function signInWithLink(
  deps: IdentityOperationDeps,
  token: string,
  peerAddress: string,
): Promise<NewSession> {
  return guarded(deps, 'sign-in link', peerAddress, () =>
    deps.db.transaction().execute(async (trx) => {
      const use = await takeLink(trx, deps.clock, 'sign-in', token);
      const person = use && (await findPerson(trx, { id: use.personId }));
      return person && (await beginSession(deps, trx, person, 'link', peerAddress));
    }),
  );
}

/** Checks that a link to set a password is still valid. @throws unauthenticated */
export async function checkResetLink(deps: IdentityOperationDeps, token: string, peerAddress: string): Promise<void> {
  await guarded(
    deps,
    'reset link',
    peerAddress,
    async () => (await isValidLink(deps.db, deps.clock, 'reset', token)) || undefined,
  );
}

/** Sets the password of the link's person and signs them in; their other sessions end. @throws unauthenticated, invalid_argument */
export async function resetPassword(
  deps: IdentityOperationDeps,
  given: { token: string; password: string },
  peerAddress: string,
): Promise<NewSession> {
  checkedPassword(given.password);
  await checkResetLink(deps, given.token, peerAddress);
  const hash = await hashPassword(given.password);
  const session = await guarded(deps, 'reset link', peerAddress, () =>
    deps.db.transaction().execute(async (trx) => {
      const use = await takeLink(trx, deps.clock, 'reset', given.token);
      const person = use && (await findPerson(trx, { id: use.personId }));
      if (use === undefined || person === undefined) return undefined;
      await setPassword(deps, trx, asCaller(person, peerAddress), person.id, hash);
      if (use.mailed) await trx.updateTable('people').set({ email_verified: 1 }).where('id', '=', person.id).execute();
      await requirePasswordAllowed(deps, trx, person.id);
      return beginSession(deps, trx, person, 'reset link', peerAddress);
    }),
  );
  deps.forget();
  return session;
}

/**
 * Mails a link to set a new password if a person has the address, at most once a minute. The requester does not learn whether there is
 * one.
 */
export async function mailResetLink(deps: IdentityOperationDeps, email: string): Promise<void> {
  const { db, clock, mail } = deps;
  if (mail === undefined) return;
  await db.transaction().execute(async (trx) => {
    const person = await findPerson(trx, { email });
    if (person === undefined) return;
    const recent = await trx
      .selectFrom('one_time_links')
      .select('created_ms')
      .where('person_id', '=', person.id)
      .where('purpose', '=', 'reset')
      .where('created_ms', '>', clock.now() - 60_000)
      .executeTakeFirst();
    if (recent !== undefined) return;
    const token = await createLink(trx, clock, { purpose: 'reset', personId: person.id, mailed: true });
    await mail.enqueue(trx, resetMail(person, `${deps.publicUrl()}/sign-in/reset?token=${token}`));
  });
  mail.wake();
}

function resetMail(person: Person, link: string): MailMessage {
  return {
    to: person.email,
    kind: 'password_reset',
    subject: 'Set a new password',
    text: `Someone, probably you, requested a new password for ${person.email}.\n\nTo set it, open this link within one hour; it works once:\n\n${link}\n\nIf it was not you, ignore this mail: nothing changes.\n`,
  };
}

/** 256 random bits cannot be guessed, but attempts are limited anyway. */
async function guarded<T>(
  deps: IdentityOperationDeps,
  what: keyof typeof usedUp,
  peerAddress: string,
  prove: () => Promise<T | undefined>,
): Promise<T> {
  const guess = { credential: what, peerAddress, kind: 'secret' } as const;
  return proven(deps.guesses, guess, prove, () => unauthenticated(usedUp[what]));
}

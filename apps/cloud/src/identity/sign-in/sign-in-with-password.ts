/** Signs in with e-mail address and password (D30). */
import { unauthenticated } from '@platform/base';
import { proven } from '../../access/too-many-guesses.ts';
import { normalEmail } from '../../text-rules/checked-email.ts';
import type { IdentityOperationDeps } from '../identity-deps.ts';
import { findPerson, type Person } from '../people.ts';
import { beginSession } from './begin-session.ts';
import { checkPassword, hashPassword } from './hash-password.ts';
import { requirePasswordAllowed } from './password-allowed.ts';
import type { NewSession } from './sessions.ts';

const wrongPassword =
  'sign-in: expected the e-mail address of an account and its password, found a wrong address or password';

/**
 * @throws unauthenticated for a wrong password and for an unknown address, with the same words and after the same work; resource_exhausted
 * after too many attempts; permission_denied if the person's organizations allow no passwords.
 */
export async function signInWithPassword(
  deps: IdentityOperationDeps,
  given: { email: string; password: string },
  peerAddress: string,
): Promise<NewSession> {
  const person = await provePassword(deps, given, peerAddress);
  return deps.db.transaction().execute(async (trx) => {
    await requirePasswordAllowed(deps, trx, person.id);
    return beginSession(deps, trx, person, 'password', peerAddress);
  });
}

/** The person with this address and password. @throws like `signInWithPassword` */
export async function provePassword(
  deps: IdentityOperationDeps,
  given: { email: string; password: string },
  peerAddress: string,
): Promise<Person> {
  const email = normalEmail(given.email);
  const prove = async (): Promise<Person | undefined> => {
    const person = email === '' ? undefined : await findPerson(deps.db, { email });
    const { right, stale } = await checkPassword(given.password, person?.passwordHash);
    if (!right || person === undefined) return undefined;
    if (stale) await store(deps, person, await hashPassword(given.password));
    return person;
  };
  const guess = { credential: email, peerAddress, kind: 'password' } as const;
  return proven(deps.guesses, guess, prove, () => unauthenticated(wrongPassword));
}

/** Stores the same password with newer parameters, unless the password has changed in the meantime. */
async function store(deps: IdentityOperationDeps, person: Person, hash: string): Promise<void> {
  await deps.db
    .updateTable('passwords')
    .set({ hash })
    .where('person_id', '=', person.id)
    .where('hash', '=', person.passwordHash ?? '')
    .execute();
}

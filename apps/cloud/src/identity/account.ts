/** Changes that signed-in people make to their own account. */
import { alreadyExists, failedPrecondition, notFound } from '@platform/base';
import { audit, type Caller } from '../access/audit.ts';
import { checkedEmail } from '../text-rules/checked-email.ts';
import { checkedTimeZone } from '../text-rules/time-zone.ts';
import type { IdentityOperationDeps } from './identity-deps.ts';
import { findPerson } from './people.ts';
import { checkedPassword, hashPassword } from './sign-in/hash-password.ts';
import { setPassword } from './sign-in/set-password.ts';
import { provePassword } from './sign-in/sign-in-with-password.ts';

/** A call by a person with a session. */
export interface SignedInCaller extends Caller {
  readonly principal: Extract<Caller['principal'], { kind: 'person' }>;
}

/** Sets the address of a person who has none yet. @throws invalid_argument, already_exists, failed_precondition */
export async function setEmail(deps: IdentityOperationDeps, by: SignedInCaller, email: string): Promise<void> {
  const { personId } = by.principal;
  const normal = checkedEmail(email);
  await deps.db.transaction().execute(async (trx) => {
    const other = await findPerson(trx, { email: normal });
    if (other !== undefined && other.id !== personId)
      throw alreadyExists(`email: expected an address that no one uses here, found ${normal}`);
    const changed = await trx
      .updateTable('people')
      .set({ email: normal, email_verified: 0 })
      .where('id', '=', personId)
      .where('email', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (changed === undefined)
      throw failedPrecondition(
        `email: expected an account without an address, found ${by.principal.email || 'one'}: an address cannot be changed once it is set`,
      );
    await audit(trx, by, deps.clock.now(), 'SetEmail', ['person', personId, null], { email: normal });
  });
  deps.forget();
}

/** Sets the time zone of mails to the person. @param zone empty: as each organization. @throws invalid_argument */
export async function setTimeZone(deps: IdentityOperationDeps, by: SignedInCaller, zone: string): Promise<void> {
  const { personId } = by.principal;
  const timeZone = checkedTimeZone(zone);
  await deps.db.transaction().execute(async (trx) => {
    await trx.updateTable('people').set({ time_zone: timeZone }).where('id', '=', personId).execute();
    await audit(trx, by, deps.clock.now(), 'SetTimeZone', ['person', personId, null], { time_zone: timeZone });
  });
}

/**
 * Sets a new password; a person who already has one must give it. Their other sessions end.
 * @throws unauthenticated, invalid_argument, failed_precondition
 */
export async function changePassword(
  deps: IdentityOperationDeps,
  by: SignedInCaller,
  given: { current: string; password: string },
): Promise<void> {
  const { personId, sessionId } = by.principal;
  checkedPassword(given.password);
  const person = await findPerson(deps.db, { id: personId });
  if (person === undefined || person.email === '')
    throw failedPrecondition('password: expected an account with an e-mail address; set yours first');
  if (person.passwordHash !== undefined)
    await provePassword(deps, { email: person.email, password: given.current }, by.peerAddress);
  const hash = await hashPassword(given.password);
  await deps.db.transaction().execute((trx) => setPassword(deps, trx, by, personId, hash, sessionId));
  deps.forget();
}

/** Ends all sessions of the person, in browsers and command lines. */
export async function endAllSessions(deps: IdentityOperationDeps, by: SignedInCaller): Promise<void> {
  const { personId } = by.principal;
  await deps.db.transaction().execute(async (trx) => {
    await deps.sessions.endOthers(trx, personId);
    await audit(trx, by, deps.clock.now(), 'EndAllSessions', ['person', personId, null]);
  });
  deps.forget();
}

/** Ends one of the person's sessions. @throws not_found */
export async function endSession(deps: IdentityOperationDeps, by: SignedInCaller, sessionId: string): Promise<void> {
  await deps.db.transaction().execute(async (trx) => {
    if (!(await deps.sessions.end(trx, by.principal.personId, sessionId)))
      throw notFound('session: expected the id of one of your sessions, found another');
    await audit(trx, by, deps.clock.now(), 'EndSession', ['session', sessionId, null]);
  });
  deps.forget();
}

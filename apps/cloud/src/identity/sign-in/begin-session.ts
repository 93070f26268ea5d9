/** The last step of every way to sign in: creates the session, records the time, and writes the audit entry. */
import { audit } from '../../access/audit.ts';
import type { Database } from '../../metadata/tables.ts';
import type { IdentityOperationDeps } from '../identity-deps.ts';
import { asCaller } from '../people.ts';
import type { NewSession, SessionKind } from './sessions.ts';

/** @param how for the audit trail, such as `password`. */
export async function beginSession(
  deps: Pick<IdentityOperationDeps, 'sessions' | 'clock'>,
  trx: Database,
  person: { id: string; email: string },
  how: string,
  peerAddress: string,
  kind: SessionKind = 'browser',
): Promise<NewSession> {
  const nowMs = deps.clock.now();
  const session = await deps.sessions.begin(trx, person.id, kind, peerAddress);
  await trx.updateTable('people').set({ last_sign_in_ms: nowMs }).where('id', '=', person.id).execute();
  const target = ['session', session.sessionId, null] as const;
  await audit(trx, asCaller(person, peerAddress, session.sessionId), nowMs, 'SignIn', target, { how, kind });
  return session;
}

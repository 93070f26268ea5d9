/** Sets a person's password. Their other sessions end, and all of their links become invalid. */
import { audit, type Caller } from '../../access/audit.ts';
import type { Database } from '../../metadata/tables.ts';
import type { IdentityOperationDeps } from '../identity-deps.ts';

/** @param hash result of `hashPassword`, which is too slow for a transaction. @param keepSessionId the session to keep. */
export async function setPassword(
  deps: Pick<IdentityOperationDeps, 'sessions' | 'clock'>,
  trx: Database,
  by: Caller,
  personId: string,
  hash: string,
  keepSessionId?: string,
): Promise<void> {
  const nowMs = deps.clock.now();
  await trx
    .insertInto('passwords')
    .values({ person_id: personId, hash, changed_ms: nowMs })
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet({ hash, changed_ms: nowMs }))
    .execute();
  await deps.sessions.endOthers(trx, personId, keepSessionId);
  await trx.deleteFrom('one_time_links').where('person_id', '=', personId).execute();
  await audit(trx, by, nowMs, 'SetPassword', ['person', personId, null]);
}

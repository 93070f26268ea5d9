/**
 * Lets the proven owner of an address take over an account whose address was never proven. Someone else may have created that account, so
 * its password, links and sessions end.
 */
import type { Database } from '../../metadata/tables.ts';
import type { IdentityOperationDeps } from '../identity-deps.ts';

export async function claimUnverifiedAccount(
  deps: Pick<IdentityOperationDeps, 'sessions'>,
  trx: Database,
  personId: string,
): Promise<void> {
  await trx.deleteFrom('passwords').where('person_id', '=', personId).execute();
  await trx.deleteFrom('one_time_links').where('person_id', '=', personId).execute();
  await deps.sessions.endOthers(trx, personId);
  await trx.updateTable('people').set({ email_verified: 1 }).where('id', '=', personId).execute();
}

/** Deletes sessions, links, invitations and mail counts that can no longer be used. */
import type { Database } from '../metadata/tables.ts';
import type { IdentityOperationDeps } from './identity-deps.ts';
import { pruneMailCounts } from './invitations/invitation-mail-limits.ts';

/** Always resolves to false: there is nothing more to do until the next hour. */
export async function pruneExpired({
  db,
  clock,
  tree,
}: Pick<IdentityOperationDeps, 'db' | 'clock' | 'tree'>): Promise<boolean> {
  const nowMs = clock.now();
  for (const table of ['sessions', 'one_time_links', 'invitations'] as const)
    await db.deleteFrom(table).where('expires_ms', '<=', nowMs).execute();
  await pruneMailCounts(db, nowMs);
  for (const table of ['invitations', 'organization_joins'] as const) {
    const rows = await db.selectFrom(table).select('organization_id').distinct().execute();
    for (const { organization_id } of rows)
      if (tree.organization(organization_id) === undefined)
        await db.deleteFrom(table).where('organization_id', '=', organization_id).execute();
  }
  return false;
}

/** Deletes an organization's invitations and joins in the transaction of its deletion. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  for (const table of ['invitations', 'organization_joins'] as const)
    await trx.deleteFrom(table).where('organization_id', '=', organizationId).execute();
}

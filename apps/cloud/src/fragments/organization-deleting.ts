import { failedPrecondition } from '@platform/base';
import type { Database } from '../metadata/tables.ts';
import { removeFragments } from './delete-fragment.ts';
import { readUsage } from './usage.ts';

/** Deletes the fragments of a deleted organization, unless machines of others use them. @throws failed_precondition */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  const rows = await trx.selectFrom('fragments').select('id').where('organization_id', '=', organizationId).execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return;
  const usage = (await readUsage(trx, ids)).filter((row) => row.organizationId !== organizationId);
  const machines = usage.reduce((sum, row) => sum + row.machines, 0);
  if (machines > 0)
    throw failedPrecondition(
      `organization ${organizationId}: expected fragments that no other organization uses, found ${new Set(usage.map((row) => row.fragmentId)).size} in use by ${machines} machines of others`,
    );
  await removeFragments(trx, ids);
}

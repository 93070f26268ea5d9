/**
 * Removes the paused targets and recipients of a deleted organization. The count of what it sent stays for its last invoice. The delivery
 * loop cancels its waiting messages; their record stays for 30 days.
 */
import type { Database } from '../metadata/tables.ts';

/** Must be called in the deleting transaction. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  for (const table of ['outbox_paused_targets', 'outbox_unsubscribed', 'outbox_targets'] as const)
    await trx.deleteFrom(table).where('organization_id', '=', organizationId).execute();
}

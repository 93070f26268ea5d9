/** Removes the paused targets of a deleted organization. The delivery loop cancels its waiting messages; the record stays for 30 days. */
import type { Database } from '../metadata/tables.ts';

/** Call it in the deleting transaction. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  await trx.deleteFrom('outbox_paused_targets').where('organization_id', '=', organizationId).execute();
}

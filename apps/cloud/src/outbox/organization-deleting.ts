/** What goes with an organization: its targets that are paused. The delivery cancels what waits; the record stays for its 30 days. */
import type { Database } from '../metadata/tables.ts';

/** In the transaction that deletes. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  await trx.deleteFrom('outbox_paused_targets').where('organization_id', '=', organizationId).execute();
}

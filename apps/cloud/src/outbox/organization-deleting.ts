/** Removes the paused targets and the recipients of a deleted organization. What it has sent stays for its last invoice. The delivery loop cancels its waiting messages; the record stays for 30 days. */
import type { Database } from '../metadata/tables.ts';

/** Call it in the deleting transaction. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  for (const table of ['outbox_paused_targets', 'outbox_mail_rates', 'outbox_unsubscribed'] as const)
    await trx.deleteFrom(table).where('organization_id', '=', organizationId).execute();
}

/** Deletes an organization that has no locations, with all of its data except its audit trail. */
import { failedPrecondition } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import { removeGrantsOn } from '../../access/grants.ts';
import { requireVisible } from '../../access/principal.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { summarizeNames } from '../summarize-names.ts';

/** The caller must own it. @throws failed_precondition naming what still uses it */
export async function deleteOrganization(deps: AccountsDeps, by: Caller, organizationId: string): Promise<void> {
  const { tree, clock } = deps;
  const ended = await tree.change(async (trx, changed) => {
    const row = requireVisible(tree.organization(organizationId), 'organization', organizationId);
    const locations = tree.locationsOf(organizationId).map(({ name }) => name);
    if (locations.length > 0)
      throw failedPrecondition(
        `organization ${organizationId}: expected no locations in it, found ${summarizeNames('location', locations)}; delete them first`,
      );
    for (const deleting of deps.organizationDeleting) await deleting(trx, organizationId);
    const keys = await removeGrantsOn(trx, { organizationId });
    for (const table of [
      'organization_metadata',
      'organization_logos',
      'billing_services',
      'push_configurations',
      'former_webhook_secrets',
    ] as const)
      await trx.deleteFrom(table).where('organization_id', '=', organizationId).execute();
    await trx.deleteFrom('organizations').where('id', '=', organizationId).execute();
    const detail = { name: row.name, ended_keys: keys.map(({ id }) => id) };
    const target = ['organization', organizationId, organizationId] as const;
    await audit(trx, by, clock.now(), 'AppService.DeleteOrganization', target, detail);
    changed.removeOrganization(organizationId);
    return keys;
  });
  deps.keysEnded(ended, 'organization');
  deps.accessChanged();
}

/** Deletes a location, with its secrets, shares, metadata and roles. It must contain no machines and no locations. */
import { failedPrecondition } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import { removeGrantsOn } from '../../access/grants.ts';
import { requireVisible } from '../../access/principal.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { summarizeNames } from '../summarize-names.ts';

/** The caller must own it. @throws failed_precondition naming what still uses it */
export async function deleteLocation(deps: AccountsDeps, by: Caller, locationId: string): Promise<void> {
  const { tree, clock } = deps;
  const ended = await tree.change(async (trx, changed) => {
    const row = requireVisible(tree.location(locationId), 'location', locationId);
    const organizationId = row.organization_id;
    // Read from the store: the newest machine may not yet be in memory.
    const machines = await deps.machineNamesIn(trx, locationId);
    const children = tree.childrenOf(locationId).map(({ name }) => name);
    const users = [
      ...(machines.length === 0 ? [] : [summarizeNames('machine', machines)]),
      ...(children.length === 0 ? [] : [summarizeNames('location', children)]),
    ];
    if (users.length > 0)
      throw failedPrecondition(
        `location ${locationId}: expected it to be empty, found ${users.join(' and ')}; delete or move them first`,
      );
    const keys = await removeGrantsOn(trx, { locationId });
    for (const table of ['location_secrets', 'location_shares', 'location_metadata'] as const)
      await trx.deleteFrom(table).where('location_id', '=', locationId).execute();
    await trx.deleteFrom('locations').where('id', '=', locationId).execute();
    const detail = { name: row.name, ended_keys: keys.map(({ id }) => id) };
    await audit(trx, by, clock.now(), 'AppService.DeleteLocation', ['location', locationId, organizationId], detail);
    changed.removeLocation(locationId);
    return keys;
  });
  deps.keysEnded(ended, 'location');
  deps.accessChanged();
}

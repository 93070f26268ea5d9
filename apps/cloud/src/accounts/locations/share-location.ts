/**
 * Shares a location and its contents with another organization: everyone with a role on that whole organization becomes an operator of
 * the location (R3). Also ends the sharing. Only the id is recorded, so the answer does not reveal whether the organization exists.
 */
import { invalidArgument, notFound } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import { requireVisible } from '../../access/principal.ts';
import { requireCapacity } from '../../text-rules/require-at-most.ts';
import type { AccountsDeps } from '../accounts-deps.ts';

const maxShares = 100;
/** Sharing needs no consent, so this limits how many unwanted locations an organization can receive. */
const maxSharesTowards = 200;

/** The caller must own the location. Sharing twice changes nothing. @throws invalid_argument, resource_exhausted */
export async function shareLocation(
  deps: AccountsDeps,
  by: Caller,
  locationId: string,
  organizationId: string,
): Promise<void> {
  const { tree, clock } = deps;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(organizationId))
    throw invalidArgument(
      `organization_id: expected the id of an organization, found ${JSON.stringify(organizationId.slice(0, 80))}`,
    );
  await tree.change(async (trx, changed) => {
    const row = requireVisible(tree.location(locationId), 'location', locationId);
    if (row.organization_id === organizationId)
      throw invalidArgument(
        `organization_id: expected another organization, found the one that owns location ${locationId}`,
      );
    const shared = tree.sharedWith(locationId);
    if (shared.includes(organizationId)) return;
    const shares = ' organizations that it is shared with';
    requireCapacity(`location ${locationId}`, maxShares, shared.length, shares, 'stop sharing it with one first');
    const towards = tree
      .sharesTo(organizationId)
      .filter((share) => share.organizationId === row.organization_id).length;
    const sharesTowards = ` locations of organization ${row.organization_id} to be shared with organization ${organizationId}`;
    const advice = 'share a location above them, or stop sharing one first';
    requireCapacity('organization_id', maxSharesTowards, towards, sharesTowards, advice);
    await trx
      .insertInto('location_shares')
      .values({ location_id: locationId, organization_id: organizationId, created_ms: clock.now() })
      .execute();
    const detail = { with: organizationId };
    const target = ['location', locationId, row.organization_id] as const;
    await audit(trx, by, clock.now(), 'AppService.ShareLocation', target, detail);
    changed.share(locationId, organizationId);
  });
  deps.accessChanged();
}

/** The caller must own the location. @throws not_found if it is not shared with that organization */
export async function unshareLocation(
  deps: AccountsDeps,
  by: Caller,
  locationId: string,
  organizationId: string,
): Promise<void> {
  const { tree, clock } = deps;
  await tree.change(async (trx, changed) => {
    const row = requireVisible(tree.location(locationId), 'location', locationId);
    if (!tree.sharedWith(locationId).includes(organizationId))
      throw notFound(
        `location ${locationId}: expected the id of an organization that it is shared with, found ${JSON.stringify(organizationId.slice(0, 64))}`,
      );
    await trx
      .deleteFrom('location_shares')
      .where('location_id', '=', locationId)
      .where('organization_id', '=', organizationId)
      .execute();
    const detail = { with: organizationId };
    const target = ['location', locationId, row.organization_id] as const;
    await audit(trx, by, clock.now(), 'AppService.UnshareLocation', target, detail);
    changed.unshare(locationId, organizationId);
  });
  deps.accessChanged();
}

/** Renames a location, moves it within its organization, or sets its region: applies either all given changes or none (R9). */
import { failedPrecondition, invalidArgument } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import { notVisible, requireVisible } from '../../access/principal.ts';
import { checkedName } from '../../text-rules/checked-name.ts';
import { checkedText } from '../../text-rules/checked-text.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import type { LocationRow } from '../tree.ts';
import { checkedDepth, heightOf } from './location-depth.ts';
import { requireFreeName } from './require-free-name.ts';

/** Absent fields do not change. `parentId` null: to the top of its organization. Empty region: that of the organization. */
export interface LocationUpdate {
  readonly name?: string | undefined;
  readonly parentId?: string | null | undefined;
  readonly region?: string | undefined;
}

/** @throws not_found, permission_denied, invalid_argument, already_exists; failed_precondition for a cycle or beyond the maximum depth */
export async function updateLocation(
  deps: AccountsDeps,
  by: Caller,
  locationId: string,
  update: LocationUpdate,
): Promise<LocationRow> {
  const { tree, access, clock } = deps;
  const { organizationId } = access.authorize(by.principal, 'location.manage', locationId);
  const { parentId } = update;
  const moves = parentId !== undefined && parentId !== tree.location(locationId)?.parent_id;
  if (moves && parentId === null) access.authorize(by.principal, 'organization.manage', organizationId);
  if (moves && parentId !== null) {
    const there = access.authorize(by.principal, 'location.manage', parentId);
    if (there.organizationId !== organizationId)
      throw invalidArgument(
        `parent_location_id: expected a location of the same organization (${organizationId}), found one of another organization`,
      );
  }
  const columns = {
    ...(update.name === undefined ? {} : { name: checkedName(update.name) }),
    ...(update.region === undefined ? {} : { region: checkedText(update.region, 'region', 64) }),
    ...(moves ? { parent_id: parentId } : {}),
  };
  return tree.change(async (trx, changed) => {
    const before = requireVisible(tree.location(locationId), 'location', locationId);
    if (moves && parentId !== null) {
      const path = tree.ancestors(parentId);
      if (path.length === 0) throw notVisible('location', parentId);
      if (path.includes(locationId))
        throw failedPrecondition(
          `location ${locationId}: expected a new parent outside of it, found ${parentId === locationId ? 'itself' : `${parentId}, which lies in it`}`,
        );
      checkedDepth(tree, parentId, heightOf(tree, locationId));
    }
    if (Object.keys(columns).length === 0) return before;
    if (moves || (columns.name ?? before.name) !== before.name)
      requireFreeName(tree, (id) => access.allows(by.principal, 'location.see', id), { ...before, ...columns });
    const row = await trx
      .updateTable('locations')
      .set(columns)
      .where('id', '=', locationId)
      .returningAll()
      .executeTakeFirstOrThrow();
    await audit(trx, by, clock.now(), 'AppService.UpdateLocation', ['location', locationId, organizationId], columns);
    changed.location(row);
    return row;
  });
}

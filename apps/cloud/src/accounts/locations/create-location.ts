/** Creates a location with its first secret, at the top of an organization or beneath another location (R9). */
import { invalidArgument } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import { notVisible } from '../../access/principal.ts';
import { checkedName } from '../../text-rules/checked-name.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { insertLocation } from '../insert-account-rows.ts';
import type { LocationRow } from '../tree.ts';
import { checkedDepth } from './location-depth.ts';
import { requireFreeName } from './require-free-name.ts';

/** @throws not_found, permission_denied, invalid_argument, already_exists; failed_precondition beyond the maximum depth */
export async function createLocation(
  deps: AccountsDeps,
  by: Caller,
  asked: { readonly organizationId: string; readonly parentId: string | null; readonly name: string },
): Promise<LocationRow> {
  const { tree, access, instanceKey, clock } = deps;
  const { organizationId, parentId } = asked;
  access.authorize(by.principal, 'organization.see', organizationId);
  if (parentId === null) access.authorize(by.principal, 'organization.manage', organizationId);
  else if (access.authorize(by.principal, 'location.manage', parentId).organizationId !== organizationId)
    throw invalidArgument(
      `parent_location_id: expected a location of organization ${organizationId}, found one of another organization`,
    );
  const name = checkedName(asked.name);
  return tree.change(async (trx, changed) => {
    if (parentId === null ? tree.organization(organizationId) === undefined : tree.location(parentId) === undefined)
      throw notVisible(parentId === null ? 'organization' : 'location', parentId ?? organizationId);
    checkedDepth(tree, parentId, 1);
    requireFreeName(tree, (id) => access.allows(by.principal, 'location.see', id), {
      organization_id: organizationId,
      parent_id: parentId,
      name,
    });
    const row = await insertLocation(trx, instanceKey, { organizationId, parentId, name }, clock.now());
    const detail = { name, parent: parentId };
    await audit(trx, by, clock.now(), 'AppService.CreateLocation', ['location', row.id, organizationId], detail);
    changed.location(row);
    return row;
  });
}

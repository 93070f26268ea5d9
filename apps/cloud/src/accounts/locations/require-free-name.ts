/** D36: locations of one parent have different names, because people and commands address them by path. */
import { alreadyExists } from '@platform/base';
import { isSameName } from '../../text-rules/same-name.ts';
import type { AccountTree, LocationRow } from '../tree.ts';

/**
 * Locations that already share a name keep it. A caller who may rename a location but does not see another learns nothing about that one.
 * @throws already_exists
 */
export function requireFreeName(
  tree: Pick<AccountTree, 'locationsOf'>,
  sees: (locationId: string) => boolean,
  wanted: Pick<LocationRow, 'organization_id' | 'parent_id' | 'name'> & { readonly id?: string },
): void {
  const { organization_id: organizationId, parent_id: parentId, name, id } = wanted;
  const other = tree
    .locationsOf(organizationId)
    .find((one) => one.parent_id === parentId && isSameName(one.name, name) && one.id !== id && sees(one.id));
  if (other !== undefined)
    throw alreadyExists(
      `name: expected one that no other location ${parentId === null ? 'at the top of the organization' : `in location ${parentId}`} has, found ${JSON.stringify(name)}, the name of location ${other.id}`,
    );
}

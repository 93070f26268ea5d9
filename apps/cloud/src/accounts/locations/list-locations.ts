/** Lists the locations of an organization that a caller may see, including those shared with it. */
import type { Principal } from '../../access/principal.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import type { LocationRow } from '../tree.ts';

/** The caller must be allowed to see the organization. */
export function listLocations(
  { tree, access }: Pick<AccountsDeps, 'tree' | 'access'>,
  principal: Principal,
  organizationId: string,
): readonly LocationRow[] {
  const shared = tree
    .sharesTo(organizationId)
    .flatMap((share) => tree.descendants(share.locationId))
    .flatMap((id) => tree.location(id) ?? []);
  const own = tree.locationsOf(organizationId).toSorted((a, b) => a.created_ms - b.created_ms);
  return [...new Set([...own, ...shared])].filter((row) => access.allows(principal, 'location.see', row.id));
}

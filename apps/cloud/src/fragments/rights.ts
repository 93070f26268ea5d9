/** Who may see a fragment (rule R11 of access). Pure. */
import { grantsWithin, isOnWhole, notVisible, ownsWhole, type Principal, withoutShared } from '../access/principal.ts';
import type { FragmentRow, Rights } from './source.ts';

/**
 * Whether the principal reads an organization's private fragments: a role on the whole organization that is not shared, or ownership of
 * anything in it.
 */
export function readsPrivate(principal: Principal, organizationId: string): boolean {
  return grantsWithin(withoutShared(principal), organizationId).some(
    (grant) => grant.role === 'owner' || isOnWhole(grant),
  );
}

/** Which revisions of a fragment a caller may see; parts alone see none. */
export const rightsOfCaller =
  (principal: Principal): Rights =>
  (fragment) => {
    if (principal.kind === 'part') return 'none';
    if (readsPrivate(principal, fragment.organization_id)) return 'all';
    return fragment.visibility === 'private' ? 'none' : 'shared';
  };

/** @throws not_found both for fragments that do not exist and for those that the caller may not see. */
export function visibleFragment(principal: Principal, id: string, row: FragmentRow | undefined): FragmentRow {
  if (row === undefined || rightsOfCaller(principal)(row) === 'none') throw notVisible('fragment', id);
  return row;
}

/** Whether the principal may see an organization's usage: this requires an unshared role on the whole organization. */
export function isOfOrganization(principal: Principal, organizationId: string): boolean {
  return grantsWithin(withoutShared(principal), organizationId).some(isOnWhole);
}

export function ownsOrganization(principal: Principal, organizationId: string): boolean {
  return grantsWithin(principal, organizationId).some(ownsWhole);
}

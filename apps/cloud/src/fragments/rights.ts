/** Who may see a fragment (rule R11 of access). Pure. */
import { grantsOf, notVisible, type Principal } from '../access/principal.ts';
import type { FragmentRow, Rights } from './source.ts';

/** Whether the principal reads private fragments of an organization: its own people of organization level, and owners of anything in it. */
export function readsPrivate(principal: Principal, organizationId: string): boolean {
  return grantsOf(principal).some(
    (grant) =>
      grant.organizationId === organizationId &&
      grant.shared !== true &&
      (grant.role === 'owner' || (grant.locationId === null && grant.robotId === null)),
  );
}

/** What of a fragment a caller may see; parts see none by themselves. */
export const rightsOfCaller =
  (principal: Principal): Rights =>
  (fragment) => {
    if (principal.kind === 'part') return 'none';
    if (readsPrivate(principal, fragment.organization_id)) return 'all';
    return fragment.visibility === 'private' ? 'none' : 'shared';
  };

/** @throws not_found alike for fragments that do not exist and that the caller may not see. */
export function visibleFragment(principal: Principal, id: string, row: FragmentRow | undefined): FragmentRow {
  if (row === undefined || rightsOfCaller(principal)(row) === 'none') throw notVisible('fragment', id);
  return row;
}

/** Whether the principal counts what an organization uses: one of its own of organization level. */
export function isOfOrganization(principal: Principal, organizationId: string): boolean {
  return grantsOf(principal).some(
    (grant) =>
      grant.organizationId === organizationId &&
      grant.shared !== true &&
      grant.locationId === null &&
      grant.robotId === null,
  );
}

export function ownsOrganization(principal: Principal, organizationId: string): boolean {
  return grantsOf(principal).some(
    (grant) =>
      grant.organizationId === organizationId &&
      grant.role === 'owner' &&
      grant.locationId === null &&
      grant.robotId === null,
  );
}

/** Which files a caller may see and change (D26, R1–R3): conditions used in every query. */
import type { Scope } from '@platform/query';
import type { Access } from '../access/authorize.ts';
import { grantsOf, organizationsOf, type Principal, type Role } from '../access/principal.ts';

/** Parts of organizations; an empty list allows nothing. */
export type Scopes = readonly Scope[];

/** Everything on which the caller has a role: `owner`, or any role. */
export function scopesOf(access: Pick<Access, 'scopeIn'>, principal: Principal, role: Role): Scopes {
  if (principal.kind === 'part') return [];
  const grants = grantsOf(principal).filter((grant) => role === 'operator' || grant.role === role);
  return organizationsOf(grants).map((organizationId) => access.scopeIn({ ...principal, grants }, organizationId));
}

/** @param named by a filter; empty: all */
export function organizationsIn(scopes: Scopes, named: readonly string[]): readonly string[] {
  return organizationsOf(scopes).filter((id) => named.length === 0 || named.includes(id));
}

/** The place of a file. */
export interface FilePlace {
  readonly organization_id: string;
  readonly location_id: string;
  readonly robot_id: string;
}

export function isWithin(place: FilePlace, scopes: Scopes): boolean {
  return scopes.some(
    ({ organizationId, locationIds, robotIds }) =>
      organizationId === place.organization_id &&
      ((locationIds === null && robotIds === null) ||
        (locationIds?.includes(place.location_id) ?? false) ||
        (robotIds?.includes(place.robot_id) ?? false)),
  );
}

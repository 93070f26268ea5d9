/** Who calls, and what they may do. Pure. */
import { PlatformError } from '@platform/base';
import type { Scope } from '@platform/query';

export type Role = 'owner' | 'operator';

/** A role on an organization, one of its locations (children included) or one machine. */
export interface Grant {
  readonly role: Role;
  readonly organizationId: string;
  readonly locationId: string | null;
  readonly robotId: string | null;
}

export type Principal =
  | { readonly kind: 'key'; readonly keyId: string; readonly grants: readonly Grant[] }
  | { readonly kind: 'part'; readonly partId: string };

/** Where something lies in the account tree. `locationIds`: its location and all above it. */
export interface Lineage {
  readonly organizationId: string;
  readonly locationIds: readonly string[];
  readonly robotId?: string;
}

/** Whether `principal` holds `role` (an owner is an operator, too) on something at `lineage`. Deny by default. */
export function holds(principal: Principal, role: Role, lineage: Lineage): boolean {
  if (principal.kind !== 'key') return false;
  return principal.grants.some(
    (grant) =>
      grant.organizationId === lineage.organizationId &&
      (grant.role === 'owner' || role === 'operator') &&
      (grant.locationId === null || lineage.locationIds.includes(grant.locationId)) &&
      (grant.robotId === null || grant.robotId === lineage.robotId),
  );
}

/** Whether the principal holds any role anywhere in the organization: enough to see its name. */
export function sees(principal: Principal, organizationId: string): boolean {
  return principal.kind === 'key' && principal.grants.some((grant) => grant.organizationId === organizationId);
}

/**
 * What a principal may read of an organization (D26).
 *
 * @param childrenOf the ids of a location and of all below it.
 * @throws not_found when the principal has no role in it: foreign ids never reveal whether they exist.
 */
export function scopeIn(
  principal: Principal,
  organizationId: string,
  childrenOf: (locationId: string) => readonly string[],
): Scope {
  const grants =
    principal.kind === 'key' ? principal.grants.filter((grant) => grant.organizationId === organizationId) : [];
  if (grants.length === 0) throw notVisible('organization', organizationId);
  if (grants.some((grant) => grant.locationId === null && grant.robotId === null)) {
    return { organizationId, locationIds: null, robotIds: null };
  }
  const whole = grants.filter((grant) => grant.robotId === null && grant.locationId !== null);
  const locationIds = whole.flatMap((grant) => childrenOf(grant.locationId as string));
  const robotIds = grants.flatMap((grant) => (grant.robotId === null ? [] : [grant.robotId]));
  return { organizationId, locationIds: [...new Set(locationIds)], robotIds };
}

/** The answer to an id that does not exist, or not for this caller. */
export function notVisible(what: string, id: string): PlatformError {
  const shown = id === '' ? 'an empty id' : `"${id.slice(0, 64)}"`;
  return new PlatformError('not_found', `${what}: expected the id of one that this key may see, found ${shown}`);
}

/** A caller's own roles, without those from locations shared with their organizations. Pure. */
import { grantsOf, type Principal } from '../access/principal.ts';

/** The organizations in which the person holds a role directly. */
export function organizationsOf(principal: Principal): ReadonlySet<string> {
  return new Set(grantsOf(principal).flatMap((grant) => (grant.shared === true ? [] : [grant.organizationId])));
}

/** All organizations whose names the caller may know. */
export function organizationsSeenBy(principal: Principal): ReadonlySet<string> {
  return new Set(grantsOf(principal).map((grant) => grant.organizationId));
}

/** The same caller without the roles that come from sharing. */
export function withoutShared(principal: Principal): Principal {
  if (principal.kind === 'part') return principal;
  return { ...principal, grants: principal.grants.filter((grant) => grant.shared !== true) };
}

/** A caller's own roles, apart from what comes with locations that are shared with her organizations. Pure. */
import { grantsOf, type Principal } from '../access/principal.ts';

/** The organizations in which the person holds a role directly. */
export function organizationsOf(principal: Principal): ReadonlySet<string> {
  return new Set(grantsOf(principal).flatMap((grant) => (grant.shared === true ? [] : [grant.organizationId])));
}

/** Every organization of which she may know the name. */
export function organizationsSeenBy(principal: Principal): ReadonlySet<string> {
  return new Set(grantsOf(principal).map((grant) => grant.organizationId));
}

/** The same caller without what is shared with her organizations. */
export function withoutShared(principal: Principal): Principal {
  if (principal.kind === 'part') return principal;
  return { ...principal, grants: principal.grants.filter((grant) => grant.shared !== true) };
}

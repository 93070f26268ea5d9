/** The caller and its roles. Pure. */
import type { DescService } from '@bufbuild/protobuf';
import { invalidArgument, notFound, type PlatformError, permissionDenied } from '@platform/base';
import type { Scope } from '@platform/query';
import type { Call, Handlers, ServiceBinding } from '@platform/rpc/server';

export type Role = 'owner' | 'operator';

/** A role on an organization, one of its locations (children included) or one machine. */
export interface Grant {
  readonly role: Role;
  readonly organizationId: string;
  /** Null: the whole organization, or a machine. */
  readonly locationId: string | null;
  /** One machine, wherever it moves within its organization. */
  readonly robotId: string | null;
  /** The role comes from sharing: the location is shared with an organization in which the caller holds a role. */
  readonly shared?: true;
}

export type Principal =
  | {
      readonly kind: 'key';
      readonly keyId: string;
      /** For the audit trail. */
      readonly keyName?: string;
      readonly grants: readonly Grant[];
    }
  | {
      readonly kind: 'person';
      readonly personId: string;
      readonly sessionId: string;
      readonly email: string;
      readonly grants: readonly Grant[];
    }
  | { readonly kind: 'part'; readonly partId: string };

/** Calls, handlers and services whose caller is authenticated. */
export type CloudCall = Call<Principal>;
export type CloudHandlers<S extends DescService> = Handlers<S, Principal>;
export type CloudBinding = ServiceBinding<Principal>;

/** The place of a target in the account tree. `locationIds`: its location and all ancestors. */
export interface Lineage {
  readonly organizationId: string;
  readonly locationIds: readonly string[];
  readonly robotId?: string;
}

/** The roles of a key or person; a part has none. */
export function grantsOf(principal: Principal): readonly Grant[] {
  return principal.kind === 'part' ? [] : principal.grants;
}

/** Those in one organization. */
export function grantsWithin(principal: Principal, organizationId: string): readonly Grant[] {
  return grantsOf(principal).filter((grant) => grant.organizationId === organizationId);
}

/** The same caller without the roles that come from sharing. */
export function withoutShared(principal: Principal): Principal {
  if (principal.kind === 'part') return principal;
  return { ...principal, grants: principal.grants.filter((grant) => grant.shared !== true) };
}

/** The organizations in which someone has these roles. */
export function organizationsOf(grants: readonly Pick<Grant, 'organizationId'>[]): readonly string[] {
  return [...new Set(grants.map(({ organizationId }) => organizationId))];
}

/** Whether a role is on the whole organization. */
export function isOnWhole({ locationId, robotId }: Pick<Grant, 'locationId' | 'robotId'>): boolean {
  return locationId === null && robotId === null;
}

export function ownsWhole(grant: Pick<Grant, 'role' | 'locationId' | 'robotId'>): boolean {
  return grant.role === 'owner' && isOnWhole(grant);
}

/** Ids that identify the caller in the log. */
export function callerFields(principal: Principal): Readonly<Record<string, unknown>> {
  if (principal.kind === 'part') return { partId: principal.partId };
  return {
    ...(principal.kind === 'key' ? { keyId: principal.keyId } : { personId: principal.personId }),
    organizations: organizationsOf(principal.grants).slice(0, 16),
  };
}

/** Whether `principal` holds `role` on something at `lineage`; an owner is also an operator. Denies by default. */
export function holds(principal: Principal, role: Role, lineage: Lineage): boolean {
  return grantsWithin(principal, lineage.organizationId).some(
    (grant) => (grant.role === 'owner' || role === 'operator') && covers(grant, lineage),
  );
}

function covers(grant: Grant, lineage: Lineage): boolean {
  if (grant.robotId !== null) return grant.robotId === lineage.robotId;
  return grant.locationId === null || lineage.locationIds.includes(grant.locationId);
}

/** Whether the principal holds any role in the organization: enough to see the organization's name. */
export function sees(principal: Principal, organizationId: string): boolean {
  return grantsWithin(principal, organizationId).length > 0;
}

/**
 * What a principal may read of an organization (D26).
 *
 * @param childrenOf returns the ids of a location and all its descendants.
 * @throws not_found if the principal has no role in it: foreign ids never reveal whether they exist.
 */
export function scopeIn(
  principal: Principal,
  organizationId: string,
  childrenOf: (locationId: string) => readonly string[],
): Scope {
  const grants = grantsWithin(principal, organizationId);
  if (grants.length === 0) throw notVisible('organization', organizationId);
  if (grants.some(isOnWhole)) return { organizationId, locationIds: null, robotIds: null };
  const locationIds = grants.flatMap((grant) =>
    grant.locationId === null || grant.robotId !== null ? [] : childrenOf(grant.locationId),
  );
  const robotIds = grants.flatMap((grant) => (grant.robotId === null ? [] : [grant.robotId]));
  return { organizationId, locationIds: [...new Set(locationIds)], robotIds };
}

/** The error for an id that does not exist or that the caller may not see. */
export function notVisible(what: string, id: string): PlatformError {
  const shown = id === '' ? 'an empty id' : `"${id.slice(0, 64)}"`;
  return notFound(`${what}: expected the id of one that you may see, found ${shown}`);
}

/** Clients send an empty id if their caller did not pass one. @param list the operation that lists ids. @throws invalid_argument */
export function requireId(parameter: string, id: string, list: string): void {
  if (id !== '') return;
  throw invalidArgument(`${parameter}: expected an id, found none; ${list} lists the existing ids`);
}

/**
 * The id of the calling person, for operations that only people may use.
 * @param what begins the message, in the plural
 * @param why only people may use it
 * @throws permission_denied with instructions for signing in
 */
export function requirePerson(principal: Principal, what: string, why: string): string {
  if (principal.kind === 'person') return principal.personId;
  throw permissionDenied(
    `${what}: expected a signed-in person, found ${principal.kind === 'key' ? 'an API key' : "a part's credentials"}: ${why}; sign in with an e-mail address at the page /sign-in of this server, or with platform login, and send the access token of that session`,
  );
}

/** Returns what was found by an id. @throws not_found if nothing was */
export function requireVisible<T>(found: T | undefined, what: string, id: string): T {
  if (found === undefined) throw notVisible(what, id);
  return found;
}

/** Roles in wire format: `authorization_id` "location_owner" on `resource_type` "location", and so on. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { invalidArgument } from '@platform/base';
import type {
  Authorization,
  AuthorizationDetailsSchema,
  AuthorizationSchema,
} from '@platform/proto/platform/app/v1/app';
import type { Action } from './actions.ts';
import type { Access } from './authorize.ts';
import type { GrantTarget, HeldGrant } from './grants.ts';
import { type Grant, holds, type Principal, type Role } from './principal.ts';

type ResourceKind = 'organization' | 'location' | 'machine';

/** The action that an owner of each kind of resource may perform; it includes granting roles on the resource (R7). */
const manage: Readonly<Record<ResourceKind, Action>> = {
  organization: 'organization.manage',
  location: 'location.manage',
  machine: 'machine.manage',
};

const onWire: Readonly<Record<ResourceKind, string>> = {
  organization: 'organization',
  location: 'location',
  machine: 'robot',
};

/** `robot` and `machine` are one kind; undefined for anything else. */
export function resourceKindOf(word: string): ResourceKind | undefined {
  if (word === 'robot' || word === 'machine') return 'machine';
  return word === 'organization' || word === 'location' ? word : undefined;
}

/**
 * Reads the role that an authorization names, after checking that the caller owns its resource (R7).
 *
 * @throws invalid_argument for anything that is not a role; not_found and permission_denied like `authorize`
 */
export function readGrant(access: Access, principal: Principal, authorization: Authorization): Grant {
  const { authorizationType, authorizationId, resourceType, resourceId, organizationId } = authorization;
  if (authorizationType !== '' && authorizationType !== 'role')
    throw invalidArgument(
      `authorization_type: expected "role", found ${JSON.stringify(authorizationType.slice(0, 64))}`,
    );
  const [, level = '', role] = /^(organization|location|robot|machine)_(owner|operator)$/.exec(authorizationId) ?? [];
  const kind = resourceKindOf(level);
  if (kind === undefined || (role !== 'owner' && role !== 'operator'))
    throw invalidArgument(
      `authorization_id: expected organization_, location_ or robot_ followed by owner or operator, found ${JSON.stringify(authorizationId.slice(0, 64))}`,
    );
  if (resourceType !== '' && resourceKindOf(resourceType) !== kind)
    throw invalidArgument(
      `resource_type: expected "${onWire[kind]}" as authorization_id ${authorizationId} has it, found ${JSON.stringify(resourceType.slice(0, 64))}`,
    );
  const lineage = access.authorize(principal, manage[kind], resourceId);
  if (organizationId !== '' && organizationId !== lineage.organizationId)
    throw invalidArgument(
      `organization_id: expected that of ${onWire[kind]} ${resourceId}, found ${JSON.stringify(organizationId.slice(0, 64))}`,
    );
  return {
    role,
    organizationId: lineage.organizationId,
    locationId: kind === 'location' ? resourceId : null,
    robotId: kind === 'machine' ? resourceId : null,
  };
}

/** Whether the principal owns the target of a grant. */
export function owns(access: Access, principal: Principal, target: GrantTarget): boolean {
  const { kind, id } = resourceOf(target);
  // An organization's owner also owns deleted resources that were in it.
  const top = { organizationId: target.organizationId, locationIds: [] };
  return holds(principal, 'owner', top) || access.allows(principal, manage[kind], id);
}

export function resourceOf(target: GrantTarget): { readonly kind: ResourceKind; readonly id: string } {
  if (target.robotId !== null) return { kind: 'machine', id: target.robotId };
  if (target.locationId !== null) return { kind: 'location', id: target.locationId };
  return { kind: 'organization', id: target.organizationId };
}

export function authorizationDetailsOf(grant: Grant): MessageInitShape<typeof AuthorizationDetailsSchema> {
  return { ...roleFields(grant), orgId: grant.organizationId };
}

export function authorizationOf(held: HeldGrant): MessageInitShape<typeof AuthorizationSchema> {
  return {
    ...roleFields(held),
    organizationId: held.organizationId,
    identityId: held.identity.id,
    identityType: held.identity.type === 'person' ? 'user' : 'api-key',
  };
}

function roleFields(grant: Grant) {
  const { kind, id } = resourceOf(grant);
  return { authorizationType: 'role', authorizationId: roleName(grant), resourceType: onWire[kind], resourceId: id };
}

/** Such as `location_owner`. */
export function roleName(grant: GrantTarget & { readonly role: Role }): string {
  return `${onWire[resourceOf(grant).kind]}_${grant.role}`;
}

/** For the audit trail: `location_owner on <id>`. */
export function grantText(grant: GrantTarget & { readonly role: Role }): string {
  return `${roleName(grant)} on ${resourceOf(grant).id}`;
}

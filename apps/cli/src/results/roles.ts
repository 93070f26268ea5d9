/** Roles of people and keys as results. */
import type { Authorization, JsonObject, JsonValue } from '@platform/sdk/cloud';
import type { Output } from './output.ts';

/** A role on an organization, location or machine; the names are null where the caller may not see them. */
export interface Role {
  readonly role: string;
  readonly resourceType: 'organization' | 'location' | 'machine';
  readonly resourceId: string;
  readonly resource: string | null;
  readonly organizationId: string;
  readonly organization: string | null;
}

/** The kinds of names that `roleOf` needs. */
export const kindsOfRoles = ['organization', 'location', 'machine'] as const;

const types: Readonly<Record<string, Role['resourceType']>> = { location: 'location', robot: 'machine' };

/** @param names by id */
export function roleOf(
  {
    authorizationId,
    resourceType,
    resourceId,
    organizationId,
  }: Pick<Authorization, 'authorizationId' | 'resourceType' | 'resourceId' | 'organizationId'>,
  names: ReadonlyMap<string, string>,
): Role {
  return {
    role: authorizationId.replace(/^(organization|location|robot)_/, ''),
    resourceType: types[resourceType] ?? 'organization',
    resourceId,
    resource: names.get(resourceId) ?? null,
    organizationId,
    organization: names.get(organizationId) ?? null,
  };
}

/** As the field `roles` of a result: objects in JSON, otherwise sentences such as `operator of machine press-7`. @param where also name the organization */
export function rolesField(out: Pick<Output, 'style'>, roles: readonly Role[], where = false): JsonValue {
  return out.style.json === false ? roles.map((one) => sentence(one, where)) : roles.map(fields);
}

/** Such as `operator of machine press-7`. @param where also name the organization */
export function sentence({ role, resourceType, resourceId, resource, ...of }: Role, where: boolean): string {
  const name = resource ?? resourceId;
  if (resourceType === 'organization') return `${role} of ${name}`;
  return `${role} of ${resourceType} ${name}${where ? ` in ${of.organization ?? of.organizationId}` : ''}`;
}

function fields({ role, resourceType, resourceId, resource, organizationId, organization }: Role): JsonObject {
  return {
    role,
    resource_type: resourceType,
    resource_id: resourceId,
    resource,
    organization_id: organizationId,
    organization,
  };
}

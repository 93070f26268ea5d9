/** Roles as the API writes them, and as people read them. */

/** The API calls a machine a robot. */
export type PlaceKind = 'organization' | 'location' | 'robot';
export type RoleName = 'operator' | 'owner';

/** What a role applies to. */
export interface Place {
  readonly kind: PlaceKind;
  readonly id: string;
}

/** The fields of an authorization that say which role applies to which resource. */
export interface RoleFields {
  readonly authorizationType: string;
  readonly authorizationId: string;
  readonly resourceType: string;
  readonly resourceId: string;
}

export interface Authorization extends RoleFields {
  readonly organizationId: string;
  readonly identityId: string;
  readonly identityType: string;
}

/** @param identity without an id: for an invitation, or a key that is being created */
export function authorizationOf(
  role: RoleName,
  { kind, id }: Place,
  organizationId: string,
  identity: { readonly id: string; readonly type: string } = { id: '', type: '' },
): Authorization {
  return {
    ...{ authorizationType: 'role', authorizationId: `${kind}_${role}`, resourceType: kind, resourceId: id },
    ...{ organizationId, identityId: identity.id, identityType: identity.type },
  };
}

export function placeOf({ resourceType, resourceId }: RoleFields): Place {
  const kind = resourceType === 'machine' ? 'robot' : resourceType;
  return { kind: kind === 'location' || kind === 'robot' ? kind : 'organization', id: resourceId };
}

export function roleOf({ authorizationId }: Pick<RoleFields, 'authorizationId'>): RoleName {
  return authorizationId.endsWith('_owner') ? 'owner' : 'operator';
}

/**
 * Such as "owner" (of the organization), "operator of press-7".
 * @param names of locations and machines by id; undefined: not known yet
 */
export function roleText(fields: RoleFields, names: ReadonlyMap<string, string> | undefined): string {
  const { kind, id } = placeOf(fields);
  const role = roleOf(fields);
  if (kind === 'organization') return role;
  if (names === undefined) return `${role} of ${id}`;
  return `${role} of ${names.get(id) ?? `a deleted ${kind === 'robot' ? 'machine' : 'location'}`}`;
}

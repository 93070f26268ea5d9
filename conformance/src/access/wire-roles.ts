/** Roles as the public API writes them. */
import { organizationOf, type Place, type Role } from './rules.ts';

const wireKinds = { organization: 'organization', location: 'location', machine: 'robot', part: 'part' };

export interface WireAuthorization {
  readonly authorizationType: string;
  readonly authorizationId: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly organizationId: string;
}

export function authorizationOn(place: Place, role: Role): WireAuthorization {
  return authorizationOf(place.kind, place.id, organizationOf(place).id, role);
}

export function authorizationOf(
  kind: Place['kind'],
  resourceId: string,
  organizationId: string,
  role: Role,
): WireAuthorization {
  return {
    authorizationType: 'role',
    authorizationId: `${wireKinds[kind]}_${role}`,
    resourceType: wireKinds[kind],
    resourceId,
    organizationId,
  };
}

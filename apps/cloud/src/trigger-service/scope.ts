/**
 * The scope of a request: an organization, a location, a machine or a part, within which the caller reads or changes only what their rights
 * allow.
 */
import { invalidArgument } from '@platform/base';
import type { Access } from '../access/authorize.ts';
import { type PartsPort, partsIn } from '../access/parts-in.ts';
import type { Principal } from '../access/principal.ts';

/** As in the requests of TriggerService. */
export type Asked =
  | { readonly case: 'organizationId' | 'locationId' | 'machineId' | 'partId'; readonly value: string }
  | { readonly case: undefined };

export interface PartScope {
  readonly organizationId: string;
  /** Undefined: all parts of the organization, including deleted ones. */
  readonly partIds: readonly string[] | undefined;
}

export interface ScopeDeps {
  readonly access: Pick<Access, 'authorize' | 'allows' | 'scopeIn' | 'lineageOf'>;
  readonly registry: PartsPort;
  readonly tree: { descendants(locationId: string): readonly string[] };
}

/**
 * The requested scope; for an organization, the part of it that the caller operates.
 * @throws not_found, permission_denied, invalid_argument
 */
export function readScope(deps: ScopeDeps, principal: Principal, asked: Asked, operation: string): PartScope {
  const { access, registry } = deps;
  if (asked.case !== 'organizationId') return placeScope(deps, principal, asked, operation, 'read');
  const scope = access.scopeIn(principal, asked.value);
  return { organizationId: scope.organizationId, partIds: partsIn(scope, registry) };
}

/** The requested scope, all of which the caller must own. @throws not_found, permission_denied, invalid_argument */
export function ownedScope(deps: ScopeDeps, principal: Principal, asked: Asked, operation: string): PartScope {
  if (asked.case !== 'organizationId') return placeScope(deps, principal, asked, operation, 'manage');
  const { organizationId } = deps.access.authorize(principal, 'organization.manage', asked.value);
  return { organizationId, partIds: undefined };
}

function placeScope(
  { access, registry, tree }: ScopeDeps,
  principal: Principal,
  asked: Asked,
  operation: string,
  right: 'read' | 'manage',
): PartScope {
  switch (asked.case) {
    case 'partId': {
      const action = right === 'read' ? 'part.triggers' : 'part.manage';
      const { organizationId } = access.authorize(principal, action, asked.value);
      return { organizationId, partIds: [asked.value] };
    }
    case 'machineId': {
      const { organizationId } = access.authorize(principal, `machine.${right}`, asked.value);
      return { organizationId, partIds: registry.partsOf(asked.value).map(({ id }) => id) };
    }
    case 'locationId': {
      const { organizationId } = access.authorize(principal, `location.${right}`, asked.value);
      const scope = { organizationId, locationIds: tree.descendants(asked.value), robotIds: [] };
      return { organizationId, partIds: partsIn(scope, registry) };
    }
    default:
      throw invalidArgument(
        `${operation}: expected one of organization_id, location_id, machine_id and part_id, found none`,
      );
  }
}

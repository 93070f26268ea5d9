/** The only place that decides access: may this principal do this to that? Denies by default. */
import { permissionDenied } from '@platform/base';
import type { Scope } from '@platform/query';
import { type Action, type ActionRule, actions, type TargetKind } from './actions.ts';
import { grantsWithin, holds, type Lineage, notVisible, type Principal, scopeIn } from './principal.ts';

/** The part of the account tree that access checks need. */
export interface TreePort {
  organization(id: string): unknown;
  organizations(): readonly { readonly id: string }[];
  /** The organization of a location. */
  organizationOfLocation(locationId: string): string | undefined;
  /** A location and all its ancestors, nearest first. */
  ancestors(locationId: string): readonly string[];
  /** A location and all its descendants. */
  descendants(locationId: string): readonly string[];
}

export interface FleetPort {
  locationOfMachine(machineId: string): string | undefined;
  machineOfPart(partId: string): string | undefined;
}

export interface Access {
  /**
   * Returns the target's place in the tree.
   *
   * @throws not_found if the target does not exist or the principal may not know of it; permission_denied if the principal sees the target
   * but its role does not allow the action.
   */
  authorize(principal: Principal, action: Action, id: string): Lineage;
  /** Like `authorize`, but returns a boolean; false if the target does not exist. */
  allows(principal: Principal, action: Action, id: string): boolean;
  /** Whether the principal owns every organization, and so may see everything on this installation. */
  ownsAll(principal: Principal): boolean;
  /** Which of an organization's data the principal may read (D26). @throws not_found */
  scopeIn(principal: Principal, organizationId: string): Scope;
  /** Undefined if the target does not exist. */
  lineageOf(kind: TargetKind, id: string): Lineage | undefined;
}

const expectedOf: Readonly<Record<ActionRule['needs'], string>> = {
  sees: 'a role on it, above it or beneath it',
  member: 'a role in it that does not come from sharing, or one of its parts',
  operator: 'an owner or operator of it or of what contains it',
  owner: 'an owner of it or of what contains it',
};

export function createAccess(tree: TreePort, fleet: FleetPort): Access {
  const lineageOf = (kind: TargetKind, id: string): Lineage | undefined => {
    if (kind === 'organization')
      return tree.organization(id) === undefined ? undefined : { organizationId: id, locationIds: [] };
    if (kind === 'location') {
      const organizationId = tree.organizationOfLocation(id);
      return organizationId === undefined ? undefined : { organizationId, locationIds: tree.ancestors(id) };
    }
    const robotId = kind === 'machine' ? id : fleet.machineOfPart(id);
    const locationId = robotId === undefined ? undefined : fleet.locationOfMachine(robotId);
    const lineage = locationId === undefined ? undefined : lineageOf('location', locationId);
    return lineage === undefined || robotId === undefined ? undefined : { ...lineage, robotId };
  };

  /** Whether the principal holds a role on the target, above it, or on anything beneath it. */
  const sees = (principal: Principal, kind: TargetKind, id: string, lineage: Lineage): boolean => {
    if (holds(principal, 'operator', lineage)) return true;
    const inside = grantsWithin(principal, lineage.organizationId);
    if (kind === 'organization') return inside.length > 0;
    if (kind !== 'location') return false;
    return inside.some((grant) => {
      // A guest sees the location that is shared with it, but nothing above it.
      if (grant.shared === true) return false;
      const at = grant.robotId === null ? grant.locationId : fleet.locationOfMachine(grant.robotId);
      return at !== null && at !== undefined && tree.ancestors(at).includes(id);
    });
  };

  /** Whether the principal holds a role in the organization that does not come from sharing, or is one of its parts. */
  const isMember = (principal: Principal, organizationId: string): boolean =>
    principal.kind === 'part'
      ? lineageOf('part', principal.partId)?.organizationId === organizationId
      : grantsWithin(principal, organizationId).some((grant) => grant.shared !== true);

  const permits = (principal: Principal, rule: ActionRule, id: string, lineage: Lineage): boolean => {
    if (rule.needs === 'member') return isMember(principal, lineage.organizationId);
    if (principal.kind === 'part') return rule.self === true && rule.on === 'part' && principal.partId === id;
    return rule.needs === 'sees' ? sees(principal, rule.on, id, lineage) : holds(principal, rule.needs, lineage);
  };

  return {
    authorize(principal, action, id) {
      const rule: ActionRule = actions[action];
      const lineage = lineageOf(rule.on, id);
      const isItself = principal.kind === 'part' && rule.on === 'part' && principal.partId === id;
      if (lineage !== undefined && rule.needs === 'member' && isMember(principal, lineage.organizationId))
        return lineage;
      if (lineage === undefined || !(isItself || sees(principal, rule.on, id, lineage))) throw notVisible(rule.on, id);
      if (permits(principal, rule, id, lineage)) return lineage;
      throw permissionDenied(
        `${rule.on} ${id}: expected ${expectedOf[rule.needs]}, found ${isItself ? "the part's own credentials" : 'an insufficient role'} (${action})`,
      );
    },
    allows(principal, action, id) {
      const rule: ActionRule = actions[action];
      const lineage = lineageOf(rule.on, id);
      return lineage !== undefined && permits(principal, rule, id, lineage);
    },
    ownsAll: (principal) =>
      tree.organizations().every(({ id }) => holds(principal, 'owner', { organizationId: id, locationIds: [] })),
    scopeIn: (principal, organizationId) => scopeIn(principal, organizationId, tree.descendants),
    lineageOf,
  };
}

/**
 * The permission names that public clients ask CheckPermissions for, and the role that each needs.
 *
 * A permission on a kind can be asked of that kind or of what lies above it: `control_robot` of a location is the question
 * whether the caller operates all machines in it. A name that is not here (registry, training, maps, data sets) is held by no one.
 */
import type { Role } from './principal.ts';

type Level = 'organization' | 'location' | 'machine';

interface Permission {
  /** The lowest kind that it is about. */
  readonly on: Level;
  readonly needs: Role;
}

const permissions: ReadonlyMap<string, Permission> = new Map<string, Permission>([
  ['read_organization', { on: 'organization', needs: 'operator' }],
  ['write_organization', { on: 'organization', needs: 'owner' }],
  ['read_fragment', { on: 'organization', needs: 'operator' }],
  ['write_fragment', { on: 'organization', needs: 'owner' }],
  ['read_organization_data_management', { on: 'organization', needs: 'operator' }],
  ['write_organization_data_management', { on: 'organization', needs: 'owner' }],

  ['read_location', { on: 'location', needs: 'operator' }],
  ['write_location', { on: 'location', needs: 'owner' }],
  ['read_location_secret', { on: 'location', needs: 'owner' }],
  ['read_location_data_management', { on: 'location', needs: 'operator' }],
  ['write_location_data_management', { on: 'location', needs: 'owner' }],

  ['read_robot', { on: 'machine', needs: 'operator' }],
  ['read_robot_config', { on: 'machine', needs: 'operator' }],
  ['read_robot_logs', { on: 'machine', needs: 'operator' }],
  ['read_robot_history', { on: 'machine', needs: 'operator' }],
  ['control_robot', { on: 'machine', needs: 'operator' }],
  ['write_robot', { on: 'machine', needs: 'owner' }],
  ['read_robot_secret', { on: 'machine', needs: 'owner' }],
  ['read_robot_data_management', { on: 'machine', needs: 'operator' }],
  ['write_robot_data_management', { on: 'machine', needs: 'owner' }],
]);

const depth: Readonly<Record<Level, number>> = { organization: 0, location: 1, machine: 2 };

/** The role on a resource of this kind that gives the permission; undefined when none does. */
export function roleFor(permission: string, kind: Level): Role | undefined {
  // Both spellings of machines: read_robot_logs and read_machine_logs.
  const known = permissions.get(permission.replace('_machine', '_robot'));
  return known === undefined || depth[known.on] < depth[kind] ? undefined : known.needs;
}

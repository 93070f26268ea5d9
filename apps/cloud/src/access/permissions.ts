/**
 * The permission names that public clients pass to CheckPermissions, and the role that each needs.
 *
 * A permission on a kind can be checked on that kind or on anything above it: `control_robot` of a location asks whether the caller
 * operates all machines in it. No one holds a permission that is not listed (registry, training, maps, data sets).
 */
import type { Role } from './principal.ts';

type Level = 'organization' | 'location' | 'machine';

interface Permission {
  /** The lowest kind to which the permission applies. */
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

/** The role on a resource of this kind that grants the permission; undefined if none does. */
export function roleFor(permission: string, kind: Level): Role | undefined {
  // Public clients use both spellings for machines: read_robot_logs and read_machine_logs.
  const known = permissions.get(permission.replace('_machine', '_robot'));
  return known === undefined || depth[known.on] < depth[kind] ? undefined : known.needs;
}

/** Lists the keys that a caller may manage, in an organization or on a machine. Omits keys that open more than the caller owns. */
import { permissionDenied } from '@platform/base';
import type { Database } from '../metadata/tables.ts';
import { owns } from './authorization-on-wire.ts';
import type { Access } from './authorize.ts';
import { grantsIn, grantsOfIdentity, type HeldGrant } from './grants.ts';
import { keyRow, type ManagedKey } from './managed-key.ts';
import { grantsWithin, type Principal } from './principal.ts';

/** Keys in the organization whose roles are all on resources that the caller owns, oldest first. @throws not_found, permission_denied */
export async function keysIn(
  db: Database,
  access: Access,
  principal: Principal,
  organizationId: string,
): Promise<readonly ManagedKey[]> {
  requireAnOwner(access, principal, organizationId);
  const held = await grantsIn(db, organizationId);
  return listed(
    db,
    access,
    principal,
    held.filter((grant) => owns(access, principal, grant)),
  );
}

/**
 * The subset of `keysIn` with a role on this machine itself. Owners come first: the public command line takes the first key to restart a module
 * of the machine, which only owners may.
 *
 * @throws not_found, permission_denied
 */
export async function keysOfMachine(
  db: Database,
  access: Access,
  principal: Principal,
  machineId: string,
): Promise<readonly ManagedKey[]> {
  const { organizationId } = access.authorize(principal, 'machine.manage', machineId);
  const held = await grantsIn(db, organizationId);
  const through = held.filter((grant) => grant.robotId === machineId);
  const isOwner = ({ grants }: ManagedKey): boolean => grants.some(({ role }) => role === 'owner');
  const keys = await listed(db, access, principal, through);
  return [...keys.filter(isOwner), ...keys.filter((key) => !isOwner(key))];
}

/** Keys and roles are shown only to owners of their targets (R5, R12). @throws not_found, permission_denied */
export function requireAnOwner(access: Access, principal: Principal, organizationId: string): void {
  access.authorize(principal, 'organization.see', organizationId);
  if (!grantsWithin(principal, organizationId).some(({ role }) => role === 'owner'))
    throw permissionDenied(
      `organization ${organizationId}: expected an owner of it or of something in it, found an insufficient role`,
    );
}

async function listed(
  db: Database,
  access: Access,
  principal: Principal,
  through: readonly HeldGrant[],
): Promise<readonly ManagedKey[]> {
  const ids = new Set(through.flatMap(({ identity }) => (identity.type === 'api-key' ? [identity.id] : [])));
  const keys: ManagedKey[] = [];
  for (const id of ids) {
    const row = await keyRow(db, id);
    if (row === undefined) continue;
    const grants = await grantsOfIdentity(db, { type: 'api-key', id });
    // No grants: the key has been deleted.
    if (grants.length > 0 && grants.every((grant) => owns(access, principal, grant))) keys.push({ row, grants });
  }
  return keys.toSorted((a, b) => a.row.created_ms - b.row.created_ms || (a.row.id < b.row.id ? -1 : 1));
}

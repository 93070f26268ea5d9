/** The keys that a caller may manage in an organization, or that have a role on a machine. */
import { PlatformError } from '@platform/base';
import type { Selectable } from 'kysely';
import type { CloudTables, Database } from '../metadata/tables.ts';
import { owns } from './authorization-on-wire.ts';
import type { Access } from './authorize.ts';
import { grantsIn, grantsOfIdentity, type HeldGrant } from './grants.ts';
import { grantsOf, type Principal } from './principal.ts';

export interface ListedKey {
  readonly row: Selectable<CloudTables['api_keys']>;
  /** The roles on what the caller owns; others are not shown. */
  readonly grants: readonly HeldGrant[];
  /** The caller owns everything that the key opens: it may have the secret (D6). */
  readonly whole: boolean;
}

/** Keys with a role on something in the organization that the caller owns, oldest first. @throws not_found, permission_denied */
export async function keysIn(
  db: Database,
  access: Access,
  principal: Principal,
  organizationId: string,
): Promise<readonly ListedKey[]> {
  requireAnOwner(access, principal, organizationId);
  const held = await grantsIn(db, organizationId);
  return listed(
    db,
    access,
    principal,
    held.filter((grant) => owns(access, principal, grant)),
  );
}

/** Keys with a role on this very machine. @throws not_found, permission_denied */
export async function keysOfMachine(
  db: Database,
  access: Access,
  principal: Principal,
  machineId: string,
): Promise<readonly ListedKey[]> {
  const { organizationId } = access.authorize(principal, 'machine.manage', machineId);
  const held = await grantsIn(db, organizationId);
  return listed(
    db,
    access,
    principal,
    held.filter((grant) => grant.robotId === machineId),
  );
}

/** Keys and roles are shown to owners only, each to the owners of what it is on (R5, R12). @throws not_found, permission_denied */
export function requireAnOwner(access: Access, principal: Principal, organizationId: string): void {
  access.authorize(principal, 'organization.see', organizationId);
  const ownsSome = grantsOf(principal).some(
    (grant) => grant.organizationId === organizationId && grant.role === 'owner',
  );
  if (!ownsSome)
    throw new PlatformError(
      'permission_denied',
      `organization ${organizationId}: expected an owner of it or of something in it, found a role that is not enough`,
    );
}

async function listed(
  db: Database,
  access: Access,
  principal: Principal,
  through: readonly HeldGrant[],
): Promise<readonly ListedKey[]> {
  const ids = new Set(through.flatMap(({ identity }) => (identity.type === 'api-key' ? [identity.id] : [])));
  const keys: ListedKey[] = [];
  for (const id of ids) {
    const row = await db
      .selectFrom('api_keys')
      .selectAll()
      .where('id', '=', id)
      .where('revoked_ms', 'is', null)
      .executeTakeFirst();
    if (row === undefined) continue;
    const grants = await grantsOfIdentity(db, { type: 'api-key', id });
    const owned = grants.filter((grant) => owns(access, principal, grant));
    keys.push({ row, grants: owned, whole: owned.length === grants.length });
  }
  return keys.toSorted((a, b) => a.row.created_ms - b.row.created_ms || (a.row.id < b.row.id ? -1 : 1));
}

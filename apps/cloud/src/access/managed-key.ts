/** Reads a key for a caller who manages it: this requires ownership of every resource on which the key has a role (R7). */
import { permissionDenied } from '@platform/base';
import type { Selectable } from 'kysely';
import type { CloudTables, Database } from '../metadata/tables.ts';
import { owns } from './authorization-on-wire.ts';
import type { Access } from './authorize.ts';
import { grantsOfIdentity, type HeldGrant } from './grants.ts';
import { notVisible, type Principal } from './principal.ts';

export interface ManagedKey {
  readonly row: Selectable<CloudTables['api_keys']>;
  readonly grants: readonly HeldGrant[];
}

/**
 * @param what names the requested object in a refusal. @throws not_found unless the caller owns one of its resources, permission_denied
 * unless it owns all of them
 */
export async function managedKey(
  trx: Database,
  access: Access,
  principal: Principal,
  id: string,
  what = 'API key',
): Promise<ManagedKey> {
  const row = await keyRow(trx, id);
  const grants = await grantsOfIdentity(trx, { type: 'api-key', id });
  const owned = grants.filter((grant) => owns(access, principal, grant));
  if (row === undefined || owned.length === 0) throw notVisible(what, id);
  if (owned.length < grants.length)
    throw permissionDenied(
      `API key ${id}: expected an owner of every resource on which it has a role, found one of ${owned.length} of ${grants.length}`,
    );
  return { row, grants };
}

/** Undefined if the key was deleted or never existed. */
export function keyRow(db: Database, id: string): Promise<ManagedKey['row'] | undefined> {
  return db.selectFrom('api_keys').selectAll().where('id', '=', id).where('revoked_ms', 'is', null).executeTakeFirst();
}

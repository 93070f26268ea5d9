/** Stored grants: adding and removing them, and the rule that an organization keeps an owner (R7). Runs in the caller's transaction. */
import { failedPrecondition } from '@platform/base';
import type { SelectQueryBuilder } from 'kysely';
import { requireRight } from '../metadata/row-checks/require-right.ts';
import type { CloudTables, Database } from '../metadata/tables.ts';
import type { Grant, Lineage, Role } from './principal.ts';
import { grants } from './store.ts';

/** Who holds a grant. */
export interface Identity {
  readonly type: 'api-key' | 'person';
  readonly id: string;
}

/** The target of a grant: exactly one of the organization, one of its locations, or one of its machines. */
export type GrantTarget = Pick<Grant, 'organizationId' | 'locationId' | 'robotId'>;

/** A grant as stored in the table; never one from sharing. */
export interface HeldGrant extends GrantTarget {
  readonly identity: Identity;
  readonly role: Role;
}

/**
 * Adds a role. Returns false and changes nothing if the identity already holds it. Call the authenticator's `forget()` after the commit.
 */
export async function addGrant(trx: Database, identity: Identity, grant: Grant): Promise<boolean> {
  const held = await grantsOfIdentity(trx, identity);
  if (held.some((one) => one.role === grant.role && sameTarget(one, grant))) return false;
  await trx
    .insertInto('grants')
    .values({
      identity_id: identity.id,
      identity_type: identity.type,
      role: grant.role,
      organization_id: grant.organizationId,
      location_id: grant.robotId === null ? grant.locationId : null,
      robot_id: grant.robotId,
    })
    .execute();
  return true;
}

/** Removes one role. Returns false if the identity does not hold it. */
export async function removeGrant(trx: Database, identity: Identity, grant: Grant): Promise<boolean> {
  const { role, organizationId, locationId, robotId } = grant;
  const held = trx
    .deleteFrom('grants')
    .where('identity_id', '=', identity.id)
    .where('identity_type', '=', identity.type)
    .where('role', '=', role)
    .where('organization_id', '=', organizationId);
  const chosen =
    robotId === null
      ? held.where('location_id', locationId === null ? 'is' : '=', locationId).where('robot_id', 'is', null)
      : held.where('robot_id', '=', robotId);
  return (await chosen.returning('identity_id').execute()).length > 0;
}

export async function grantsOfIdentity(db: Database, identity: Identity): Promise<readonly HeldGrant[]> {
  const rows = await db
    .selectFrom('grants')
    .selectAll()
    .where('identity_id', '=', identity.id)
    .where('identity_type', '=', identity.type)
    .execute();
  requireRight(grants, rows);
  return rows.map(heldGrantOf);
}

/** Removes all of an identity's roles in an organization and returns them. */
export async function removeGrantsIn(
  trx: Database,
  identity: Identity,
  organizationId: string,
): Promise<readonly Role[]> {
  const rows = await trx
    .deleteFrom('grants')
    .where('organization_id', '=', organizationId)
    .where('identity_id', '=', identity.id)
    .where('identity_type', '=', identity.type)
    .returning('role')
    .execute();
  return rows.map(({ role }) => role);
}

/** Ids of people who hold a role anywhere in an organization, or own all of it: a subquery for `where('people.id', 'in', …)`. */
export function peopleIn(
  db: Database,
  organizationId: string,
  as: 'member' | 'owner' = 'member',
): SelectQueryBuilder<CloudTables, 'grants', { identity_id: string }> {
  const members = db
    .selectFrom('grants')
    .select('identity_id')
    .where('organization_id', '=', organizationId)
    .where('identity_type', '=', 'person');
  if (as === 'member') return members;
  return members.where('role', '=', 'owner').where('location_id', 'is', null).where('robot_id', 'is', null);
}

/**
 * Ids of people with one of these roles on a machine, its locations or its organization: a subquery. Roles that come from sharing do not
 * count: an organization is not notified of machines of another. @param lineage of the machine
 */
export function peopleOver(
  db: Database,
  lineage: Lineage,
  roles: readonly Role[],
): SelectQueryBuilder<CloudTables, 'grants', { identity_id: string }> {
  const { organizationId, locationIds, robotId = '' } = lineage;
  return db
    .selectFrom('grants')
    .select('identity_id')
    .where('organization_id', '=', organizationId)
    .where('identity_type', '=', 'person')
    .where('role', 'in', roles)
    .where((eb) =>
      eb.or([
        eb.and([eb('location_id', 'is', null), eb('robot_id', 'is', null)]),
        eb('robot_id', '=', robotId),
        ...(locationIds.length === 0 ? [] : [eb('location_id', 'in', locationIds)]),
      ]),
    );
}

/** Every grant in an organization, at all levels. */
export async function grantsIn(db: Database, organizationId: string): Promise<readonly HeldGrant[]> {
  const rows = await db.selectFrom('grants').selectAll().where('organization_id', '=', organizationId).execute();
  return rows.map(heldGrantOf);
}

/** The resource that is being deleted; `organizationId` alone: everything in the organization. */
export type Deleted =
  | { readonly organizationId: string }
  | { readonly locationId: string }
  | { readonly machineId: string };

/** A key that ended with a deletion. */
export interface EndedKey {
  readonly id: string;
  /** Of its secrets. */
  readonly hashes: readonly Uint8Array[];
}

/**
 * Removes every grant on what is being deleted, and API keys without any other role, because no one could manage those. Returns those keys,
 * for the audit entry and for those who still use them. Call the authenticator's `forget()` after the commit.
 */
export async function removeGrantsOn(trx: Database, deleted: Deleted): Promise<readonly EndedKey[]> {
  const all = trx.deleteFrom('grants');
  const chosen =
    'organizationId' in deleted
      ? all.where('organization_id', '=', deleted.organizationId)
      : 'locationId' in deleted
        ? all.where('location_id', '=', deleted.locationId)
        : all.where('robot_id', '=', deleted.machineId);
  const rows = await chosen.returning(['identity_id', 'identity_type']).execute();
  const keyIds = new Set(rows.flatMap((row) => (row.identity_type === 'api-key' ? [row.identity_id] : [])));
  const ended: EndedKey[] = [];
  for (const id of keyIds) {
    if ((await grantsOfIdentity(trx, { type: 'api-key', id })).length > 0) continue;
    const former = trx.deleteFrom('former_key_secrets').where('key_id', '=', id).returning('secret_hash');
    const current = trx.deleteFrom('api_keys').where('id', '=', id).returning('secret_hash');
    const secrets = [...(await former.execute()), ...(await current.execute())];
    ended.push({ id, hashes: secrets.map((row) => row.secret_hash) });
  }
  return ended;
}

/**
 * Must be called after an organization's owner lost that role or was removed, or after a key got an expiry. Only a person or a key without
 * expiry counts as a remaining owner. Returns `api-key` if none of them is a person.
 *
 * @throws failed_precondition if no owner remains; the transaction must then be rolled back.
 */
export async function requireOwnerLeft(trx: Database, organizationId: string): Promise<Identity['type']> {
  const left = await trx
    .selectFrom('grants')
    .leftJoin('api_keys', 'api_keys.id', 'grants.identity_id')
    .select('grants.identity_type')
    .where('grants.organization_id', '=', organizationId)
    .where('grants.role', '=', 'owner')
    .where('grants.location_id', 'is', null)
    .where('grants.robot_id', 'is', null)
    .where((eb) =>
      eb.or([
        eb('grants.identity_type', '=', 'person'),
        eb.and([
          eb('api_keys.id', 'is not', null),
          eb('api_keys.revoked_ms', 'is', null),
          eb('api_keys.expires_ms', 'is', null),
        ]),
      ]),
    )
    // Prefer people over keys.
    .orderBy('grants.identity_type', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (left !== undefined) return left.identity_type;
  throw failedPrecondition(
    `organization ${organizationId}: expected at least one owner to remain (a person, or an API key that does not expire), found that this is the last one; grant someone else the role organization_owner first`,
  );
}

/** Audit detail for the result of `requireOwnerLeft`. */
export function ownersLeft(left: Identity['type'] | undefined): { readonly owners_left?: string } {
  return left === 'api-key' ? { owners_left: 'only API keys, no person' } : {};
}

export function sameTarget(a: GrantTarget, b: GrantTarget): boolean {
  if (a.organizationId !== b.organizationId || a.robotId !== b.robotId) return false;
  // A machine may move within its organization, so its location does not identify the grant.
  return a.robotId !== null || a.locationId === b.locationId;
}

function heldGrantOf(row: CloudTables['grants']): HeldGrant {
  return { identity: { type: row.identity_type, id: row.identity_id }, ...grantOfRow(row) };
}

export function grantOfRow(row: CloudTables['grants']): GrantTarget & { readonly role: Role } {
  return {
    role: row.role,
    organizationId: row.organization_id,
    locationId: row.robot_id === null ? row.location_id : null,
    robotId: row.robot_id,
  };
}

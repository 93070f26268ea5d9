/** API keys: create, find, and read what they may do. */
import { timingSafeEqual } from 'node:crypto';
import { newId, newSecret } from '@platform/base';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';
import type { Grant } from './principal.ts';

export interface NewKey {
  readonly id: string;
  readonly key: string;
}

/** Creates a key with the given roles. The secret is returned here and stored sealed. */
export async function createKey(
  db: Database,
  instanceKey: InstanceKey,
  name: string,
  grants: readonly Grant[],
  nowMs: number,
): Promise<NewKey> {
  const id = newId();
  const key = newSecret();
  await db
    .insertInto('api_keys')
    .values({
      id,
      name,
      secret_hash: instanceKey.hash(key),
      secret: instanceKey.encrypt(key),
      created_ms: nowMs,
      revoked_ms: null,
    })
    .execute();
  await db
    .insertInto('grants')
    .values(
      grants.map((grant) => ({
        identity_id: id,
        identity_type: 'api-key' as const,
        role: grant.role,
        organization_id: grant.organizationId,
        location_id: grant.locationId,
        robot_id: grant.robotId,
      })),
    )
    .execute();
  return { id, key };
}

/** The epoch of the key if the secret is right and the key lives; undefined otherwise, in the same time either way. */
export async function checkKey(
  db: Database,
  instanceKey: InstanceKey,
  id: string,
  secret: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('api_keys')
    .select(['secret_hash', 'epoch', 'revoked_ms'])
    .where('id', '=', id)
    .executeTakeFirst();
  const given = instanceKey.hash(secret);
  const right = timingSafeEqual(row?.secret_hash ?? new Uint8Array(32), given);
  return row !== undefined && right && row.revoked_ms === null ? row.epoch : undefined;
}

/** The roles of a living key of this epoch; undefined when it was revoked or rotated out. */
export async function grantsOfKey(db: Database, id: string, epoch: number): Promise<readonly Grant[] | undefined> {
  const row = await db.selectFrom('api_keys').select(['epoch', 'revoked_ms']).where('id', '=', id).executeTakeFirst();
  if (row === undefined || row.revoked_ms !== null || row.epoch !== epoch) return undefined;
  const rows = await db.selectFrom('grants').selectAll().where('identity_id', '=', id).execute();
  return rows.map((grant) => ({
    role: grant.role,
    organizationId: grant.organization_id,
    locationId: grant.location_id,
    robotId: grant.robot_id,
  }));
}

/** The oldest living owner key of an organization, in clear: for the terminal of a first start (D6, D30). */
export async function readOwnerKey(db: Database, instanceKey: InstanceKey, organizationId: string): Promise<NewKey> {
  const row = await db
    .selectFrom('grants')
    .innerJoin('api_keys', 'api_keys.id', 'grants.identity_id')
    .select(['api_keys.id', 'api_keys.secret'])
    .where('grants.organization_id', '=', organizationId)
    .where('grants.role', '=', 'owner')
    .where('grants.location_id', 'is', null)
    .where('api_keys.revoked_ms', 'is', null)
    .orderBy('api_keys.created_ms')
    .executeTakeFirst();
  return row === undefined ? { id: '', key: '' } : { id: row.id, key: instanceKey.decrypt(row.secret) };
}

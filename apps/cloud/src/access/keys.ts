/** API keys as they are stored: create, prove, and say whether one lives. */
import { timingSafeEqual } from 'node:crypto';
import { newId, newSecret } from '@platform/base';
import type { Kysely } from 'kysely';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { CloudTables, Database } from '../metadata/tables.ts';
import { addGrant } from './grants.ts';
import type { Grant } from './principal.ts';

export interface NewKey {
  readonly id: string;
  readonly key: string;
}

/** Creates a key with the given roles. The secret is returned here and stored sealed. @param expiresMs absent: never. */
export async function createKey(
  db: Kysely<CloudTables>,
  instanceKey: InstanceKey,
  name: string,
  grants: readonly Grant[],
  nowMs: number,
  expiresMs?: number,
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
      expires_ms: expiresMs ?? null,
    })
    .execute();
  for (const grant of grants) await addGrant(db, { type: 'api-key', id }, grant);
  return { id, key };
}

/** The epoch whose secret this is, if the key lives at `nowMs`; undefined otherwise. The comparison takes the same time either way. */
export async function checkKey(
  db: Database,
  instanceKey: InstanceKey,
  id: string,
  secret: string,
  nowMs: number,
): Promise<number | undefined> {
  const key = await db
    .selectFrom('api_keys')
    .select(['secret_hash', 'epoch', 'revoked_ms', 'expires_ms'])
    .where('id', '=', id)
    .executeTakeFirst();
  const former = await db
    .selectFrom('former_key_secrets')
    .select(['secret_hash', 'epoch'])
    .where('key_id', '=', id)
    .where('ends_ms', '>', nowMs)
    .execute();
  // While the instance key is being replaced the store may be ahead of this process, or behind it.
  const given = instanceKey.hashes(secret);
  const candidates = [key ?? { secret_hash: new Uint8Array(32), epoch: 0 }, ...former];
  // All are compared, whichever is right.
  const right = candidates.filter(
    (one) => given.filter((hash) => timingSafeEqual(one.secret_hash, hash)).length > 0,
  )[0];
  return key !== undefined && lives(key, nowMs) ? right?.epoch : undefined;
}

/** The name of a key whose secret of this epoch works at `nowMs`; undefined when it was deleted, rotated out or expired. */
export async function livingKey(
  db: Database,
  id: string,
  epoch: number,
  nowMs: number,
): Promise<{ readonly name: string } | undefined> {
  const key = await db
    .selectFrom('api_keys')
    .select(['name', 'epoch', 'revoked_ms', 'expires_ms'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (key === undefined || !lives(key, nowMs)) return undefined;
  if (key.epoch === epoch) return { name: key.name };
  const former = await db
    .selectFrom('former_key_secrets')
    .select('epoch')
    .where('key_id', '=', id)
    .where('epoch', '=', epoch)
    .where('ends_ms', '>', nowMs)
    .executeTakeFirst();
  return former === undefined ? undefined : { name: key.name };
}

/**
 * The name of a key that lives at `nowMs`, for what was done with it at `sinceMs`; undefined when it was deleted or expired, or
 * when the secret that it had then was rotated out.
 */
export async function keySince(
  db: Database,
  id: string,
  sinceMs: number,
  nowMs: number,
): Promise<{ readonly name: string } | undefined> {
  const key = await db
    .selectFrom('api_keys')
    .select(['name', 'rotated_ms', 'revoked_ms', 'expires_ms'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (key === undefined || !lives(key, nowMs)) return undefined;
  if ((key.rotated_ms ?? 0) <= sinceMs) return { name: key.name };
  const former = await db
    .selectFrom('former_key_secrets')
    .select('epoch')
    .where('key_id', '=', id)
    .where('ends_ms', '>', nowMs)
    .executeTakeFirst();
  return former === undefined ? undefined : { name: key.name };
}

/** The oldest owner key of an organization that lives and does not expire, in clear: for the terminal of a first start (D6, D30). */
export async function readOwnerKey(db: Database, instanceKey: InstanceKey, organizationId: string): Promise<NewKey> {
  const row = await db
    .selectFrom('grants')
    .innerJoin('api_keys', 'api_keys.id', 'grants.identity_id')
    .select(['api_keys.id', 'api_keys.secret'])
    .where('grants.organization_id', '=', organizationId)
    .where('grants.role', '=', 'owner')
    .where('grants.location_id', 'is', null)
    .where('grants.robot_id', 'is', null)
    .where('api_keys.revoked_ms', 'is', null)
    .where('api_keys.expires_ms', 'is', null)
    .orderBy('api_keys.created_ms')
    .executeTakeFirst();
  return row === undefined ? { id: '', key: '' } : { id: row.id, key: instanceKey.decrypt(row.secret) };
}

function lives(
  key: { readonly revoked_ms: number | null; readonly expires_ms: number | null },
  nowMs: number,
): boolean {
  return key.revoked_ms === null && (key.expires_ms === null || key.expires_ms > nowMs);
}

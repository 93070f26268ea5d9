/** Stored API keys: creates them, checks secrets, and tells whether a key is valid. */
import { timingSafeEqual } from 'node:crypto';
import { newId, newSecret } from '@platform/base';
import type { InstanceKey } from '../instance/instance-key.ts';
import { alteredRows, requireRight } from '../metadata/row-checks/require-right.ts';
import type { Database } from '../metadata/tables.ts';
import { addGrant } from './grants.ts';
import type { Grant } from './principal.ts';
import { apiKeys } from './store.ts';

export interface NewKey {
  readonly id: string;
  readonly key: string;
}

/** Creates a key with the given roles. Returns its secret in plaintext; the store keeps it sealed. @param expiresMs absent: never. */
export async function createKey(
  db: Database,
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

/** The epoch of this secret if the key is valid at `nowMs`; otherwise undefined. Compares in constant time. */
export async function checkKey(
  db: Database,
  instanceKey: InstanceKey,
  id: string,
  secret: string,
  nowMs: number,
): Promise<number | undefined> {
  const key = await findKey(db, id);
  const former = await formerSecrets(db, id, nowMs).execute();
  // While the instance key is being replaced, the stored hashes may use a different key than this process.
  const given = instanceKey.hashes(secret);
  const candidates = [key ?? { secret_hash: new Uint8Array(32), epoch: 0 }, ...former];
  // Compare all candidates, even after a match.
  const right = candidates.filter(
    (one) => given.filter((hash) => timingSafeEqual(one.secret_hash, hash)).length > 0,
  )[0];
  return key !== undefined && lives(key, nowMs) ? right?.epoch : undefined;
}

/**
 * The name of a key whose secret of this epoch works at `nowMs`; undefined if the key was deleted or expired, or the secret rotated out.
 */
export async function validKey(
  db: Database,
  id: string,
  epoch: number,
  nowMs: number,
): Promise<{ readonly name: string } | undefined> {
  const key = await findValidKey(db, id, nowMs);
  if (key === undefined || key.epoch === epoch) return key && { name: key.name };
  const former = await formerSecrets(db, id, nowMs).where('epoch', '=', epoch).executeTakeFirst();
  return former && { name: key.name };
}

/**
 * The name of a key that is valid at `nowMs`, for an action performed with it at `sinceMs`. Undefined if the key was deleted or expired, or
 * if the secret that it had then was rotated out.
 */
export async function keySince(
  db: Database,
  id: string,
  sinceMs: number,
  nowMs: number,
): Promise<{ readonly name: string } | undefined> {
  const key = await findValidKey(db, id, nowMs);
  if (key === undefined || (key.rotated_ms ?? 0) <= sinceMs) return key && { name: key.name };
  const former = await formerSecrets(db, id, nowMs).executeTakeFirst();
  return former && { name: key.name };
}

/** @throws data_loss when something else altered it, or deleted it: the cloud deletes the roles of a key with it (D33) */
async function findKey(db: Database, id: string) {
  const key = await db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst();
  if (key !== undefined) {
    requireRight(apiKeys, [key]);
    return key;
  }
  const left = await db
    .selectFrom('grants')
    .select('identity_id')
    .where('identity_id', '=', id)
    .where('identity_type', '=', 'api-key')
    .executeTakeFirst();
  if (left !== undefined) throw alteredRows({ text: `API key ${id}: its row in api_keys was deleted` });
  return undefined;
}

async function findValidKey(db: Database, id: string, nowMs: number) {
  const key = await findKey(db, id);
  return key !== undefined && lives(key, nowMs) ? key : undefined;
}

/** Rotated secrets of a key that still work. */
function formerSecrets(db: Database, id: string, nowMs: number) {
  return db
    .selectFrom('former_key_secrets')
    .select(['secret_hash', 'epoch'])
    .where('key_id', '=', id)
    .where('ends_ms', '>', nowMs);
}

/** An organization's oldest valid owner key without expiry, in plaintext: printed by a first start (D6, D30). */
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

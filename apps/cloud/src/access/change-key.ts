/** Changes to a key by its managers: rotate, rename, set its expiry, delete. Each runs in a transaction with its audit entry. */
import { newSecret } from '@platform/base';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';
import { audit, type Caller } from './audit.ts';
import { grantText } from './authorization-on-wire.ts';
import type { RoleDeps } from './change-role.ts';
import { requireOwnerLeft } from './grants.ts';
import type { NewKey } from './keys.ts';
import { type ManagedKey, managedKey } from './managed-key.ts';
import { organizationsOf, ownsWhole } from './principal.ts';

export interface KeyDeps extends Pick<RoleDeps, 'db' | 'access' | 'now'> {
  readonly instanceKey: InstanceKey;
  /** How long the previous secret still works after a rotation. 0: it ends at once. */
  readonly rotationOverlapMs: number;
  /** Called after a commit that changed keys or roles, to drop cached callers. */
  readonly changed: () => void;
}

/** Gives the key a new secret; its id and roles do not change. @throws not_found, permission_denied */
export async function rotateKey(deps: KeyDeps, by: Caller, id: string): Promise<NewKey> {
  const { instanceKey, rotationOverlapMs } = deps;
  const nowMs = deps.now();
  const key = newSecret();
  const endsMs = nowMs + rotationOverlapMs;
  await change(deps, by, id, 'AppService.RotateKey', { overlap_ends_ms: endsMs }, async (trx, { row }) => {
    await trx.deleteFrom('former_key_secrets').where('key_id', '=', id).where('ends_ms', '<=', nowMs).execute();
    if (rotationOverlapMs > 0)
      await trx
        .insertInto('former_key_secrets')
        .values({ key_id: id, epoch: row.epoch, secret_hash: row.secret_hash, secret: row.secret, ends_ms: endsMs })
        .execute();
    await trx
      .updateTable('api_keys')
      .set({
        secret_hash: instanceKey.hash(key),
        secret: instanceKey.encrypt(key),
        epoch: row.epoch + 1,
        rotated_ms: nowMs,
      })
      .where('id', '=', id)
      .execute();
  });
  return { id, key };
}

/** @param name already validated. */
export async function renameKey(deps: KeyDeps, by: Caller, id: string, name: string): Promise<void> {
  await change(deps, by, id, 'AppService.RenameKey', { name }, async (trx) => {
    await trx.updateTable('api_keys').set({ name }).where('id', '=', id).execute();
  });
}

/** @param expiresMs null: never. @throws failed_precondition if no other owner without expiry would remain */
export async function setKeyExpiry(deps: KeyDeps, by: Caller, id: string, expiresMs: number | null): Promise<void> {
  await change(deps, by, id, 'FleetService.SetKeyExpiry', { expires_ms: expiresMs }, async (trx, key) => {
    await trx.updateTable('api_keys').set({ expires_ms: expiresMs }).where('id', '=', id).execute();
    if (expiresMs !== null) await requireOwnersLeft(trx, key);
  });
}

/** Deletes the key with its secrets and roles; the audit trail still records it. @throws failed_precondition for the last owner */
export async function deleteKey(deps: KeyDeps, by: Caller, id: string): Promise<void> {
  await change(deps, by, id, 'AppService.DeleteKey', {}, async (trx, key) => {
    await trx.deleteFrom('grants').where('identity_id', '=', id).where('identity_type', '=', 'api-key').execute();
    await trx.deleteFrom('former_key_secrets').where('key_id', '=', id).execute();
    await trx.deleteFrom('api_keys').where('id', '=', id).execute();
    await requireOwnersLeft(trx, key);
  });
}

/** If the key owned a whole organization, another owner must remain. */
async function requireOwnersLeft(trx: Database, key: ManagedKey): Promise<void> {
  for (const { organizationId } of key.grants.filter(ownsWhole)) await requireOwnerLeft(trx, organizationId);
}

async function change(
  deps: KeyDeps,
  by: Caller,
  id: string,
  action: string,
  detail: Readonly<Record<string, unknown>>,
  make: (trx: Database, key: ManagedKey) => Promise<void>,
): Promise<void> {
  const { db, access, now, changed } = deps;
  await db.transaction().execute(async (trx) => {
    const key = await managedKey(trx, access, by.principal, id);
    await make(trx, key);
    for (const organizationId of organizationsOf(key.grants)) {
      const roles = key.grants.filter((grant) => grant.organizationId === organizationId).map(grantText);
      await audit(trx, by, now(), action, ['key', id, organizationId], { was: key.row.name, roles, ...detail });
    }
  });
  changed();
}

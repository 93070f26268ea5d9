/** API keys in the API: operations of AppService and FleetService. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { invalidArgument } from '@platform/base';
import type { APIKeyWithAuthorizationsSchema, AppService, Authorization } from '@platform/proto/platform/app/v1/app';
import type { FleetService, KeyDetailsSchema } from '@platform/proto/platform/fleet/v1/fleet';
import { checkedName } from '../text-rules/checked-name.ts';
import { requireSome } from '../text-rules/require-at-most.ts';
import { audit, type Caller } from './audit.ts';
import { authorizationDetailsOf, grantText, readGrant } from './authorization-on-wire.ts';
import { deleteKey, type KeyDeps, renameKey, rotateKey, setKeyExpiry } from './change-key.ts';
import type { KeyUse } from './key-use.ts';
import { createKey, type NewKey } from './keys.ts';
import { keysIn, keysOfMachine } from './list-keys.ts';
import { type ManagedKey, managedKey } from './managed-key.ts';
import { type CloudHandlers, type Grant, organizationsOf, type Principal } from './principal.ts';

const maxAuthorizations = 100;

export interface KeyHandlers {
  readonly app: CloudHandlers<typeof AppService>;
  readonly fleet: CloudHandlers<typeof FleetService>;
}

export function keyHandlers(deps: KeyDeps & { readonly keyUse: KeyUse }): KeyHandlers {
  const { db, instanceKey, access, now, keyUse } = deps;

  const create = async (
    by: Caller,
    action: string,
    name: string,
    grants: readonly Grant[],
    expiresMs: number | null,
    copyOf?: string,
  ): Promise<NewKey> => {
    const key = await db.transaction().execute(async (trx) => {
      // The caller may have lost the right to the copied key in the meantime.
      if (copyOf !== undefined) await managedKey(trx, access, by.principal, copyOf);
      const made = await createKey(trx, instanceKey, name, grants, now(), expiresMs ?? undefined);
      for (const organizationId of organizationsOf(grants)) {
        const roles = grants.filter((grant) => grant.organizationId === organizationId).map(grantText);
        const detail = { name, roles, expires_ms: expiresMs, ...(copyOf === undefined ? {} : { copy_of: copyOf }) };
        await audit(trx, by, now(), action, ['key', made.id, organizationId], detail);
      }
      return made;
    });
    deps.changed();
    return key;
  };

  const grantsFrom = (principal: Principal, authorizations: readonly Authorization[]): readonly Grant[] => {
    requireSome('authorizations', maxAuthorizations, authorizations.length, ' roles for the key');
    return authorizations.map((authorization) => readGrant(access, principal, authorization));
  };
  const nameOr = (name: string): string =>
    name.trim() === '' ? `key of ${new Date(now()).toISOString()}` : checkedName(name);

  const listedOnWire = ({ row, grants }: ManagedKey): MessageInitShape<typeof APIKeyWithAuthorizationsSchema> => ({
    apiKey: {
      id: row.id,
      key: instanceKey.decrypt(row.secret),
      name: row.name,
      createdOn: timestampFromMs(row.created_ms),
    },
    authorizations: grants.map(authorizationDetailsOf),
  });

  const detailsOnWire = async ({ row, grants }: ManagedKey): Promise<MessageInitShape<typeof KeyDetailsSchema>> => {
    const former = await db
      .selectFrom('former_key_secrets')
      .select((eb) => eb.fn.max('ends_ms').as('ends_ms'))
      .where('key_id', '=', row.id)
      .where('ends_ms', '>', now())
      .executeTakeFirst();
    const lastUsedMs = keyUse.unwritten(row.id) ?? row.last_used_ms;
    return {
      id: row.id,
      name: row.name,
      createdAt: timestampFromMs(row.created_ms),
      ...(row.expires_ms === null ? {} : { expiresAt: timestampFromMs(row.expires_ms) }),
      ...(lastUsedMs === null ? {} : { lastUsedAt: timestampFromMs(lastUsedMs) }),
      ...(row.rotated_ms === null ? {} : { rotatedAt: timestampFromMs(row.rotated_ms) }),
      ...(former?.ends_ms ? { overlapEndsAt: timestampFromMs(Number(former.ends_ms)) } : {}),
      authorizations: grants.map(authorizationDetailsOf),
    };
  };

  const app: CloudHandlers<typeof AppService> = {
    async createKey(request, call) {
      const grants = grantsFrom(call.principal, request.authorizations);
      return create(call, 'AppService.CreateKey', nameOr(request.name), grants, null);
    },
    async listKeys(request, call) {
      const keys = await keysIn(db, access, call.principal, request.orgId);
      return { apiKeys: keys.map(listedOnWire) };
    },
    async getRobotAPIKeys(request, call) {
      const keys = await keysOfMachine(db, access, call.principal, request.robotId);
      return { apiKeys: keys.map(listedOnWire) };
    },
    async renameKey(request, call) {
      // Check the caller's rights before the name.
      await managedKey(db, access, call.principal, request.id);
      const name = checkedName(request.name);
      await renameKey(deps, call, request.id, name);
      return { id: request.id, name };
    },
    rotateKey: (request, call) => rotateKey(deps, call, request.id),
    async deleteKey(request, call) {
      await deleteKey(deps, call, request.id);
    },
    async createKeyFromExistingKeyAuthorizations(request, call) {
      const { row, grants } = await managedKey(db, access, call.principal, request.id);
      const name = `${row.name.slice(0, 190)} (copy)`;
      const action = 'AppService.CreateKeyFromExistingKeyAuthorizations';
      // Copy the expiry along with the roles: a copy must not outlive its original.
      return create(call, action, name, grants, row.expires_ms, row.id);
    },
  };

  const fleet: CloudHandlers<typeof FleetService> = {
    async createExpiringKey(request, call) {
      const grants = grantsFrom(call.principal, request.authorizations);
      const expiresMs = futureMs(request.expiresAt, now());
      return create(call, 'FleetService.CreateExpiringKey', nameOr(request.name), grants, expiresMs);
    },
    async setKeyExpiry(request, call) {
      await managedKey(db, access, call.principal, request.id);
      await setKeyExpiry(deps, call, request.id, futureMs(request.expiresAt, now()));
    },
    async listKeyDetails(request, call) {
      const keys = await keysIn(db, access, call.principal, request.organizationId);
      return { keys: await Promise.all(keys.map(detailsOnWire)) };
    },
  };
  return { app, fleet };
}

/** Null if absent: the key never expires. @throws invalid_argument for a time in the past */
function futureMs(at: Timestamp | undefined, nowMs: number): number | null {
  if (at === undefined) return null;
  const atMs = timestampMs(at);
  if (Number.isFinite(atMs) && atMs > nowMs && atMs <= 8.64e15) return Math.floor(atMs);
  throw invalidArgument(
    'expires_at: expected a time in the future, or none for a key that never expires, found one in the past; use DeleteKey to end a key now',
  );
}

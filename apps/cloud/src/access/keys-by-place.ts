/** API keys with a role on a location or machine, indexed by that location or machine; without their secrets. */
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';
import { grantOfRow } from './grants.ts';
import type { Grant } from './principal.ts';

export interface PlacedKey {
  readonly id: string;
  /** Increases when the secret changes. */
  readonly epoch: number;
  /** All roles of the key, including those in other organizations. */
  readonly grants: readonly Grant[];
}

/** By id of a location or machine; a key appears once for each. */
export type KeysByPlace = ReadonlyMap<string, readonly PlacedKey[]>;

/** The keys of an organization that are valid at `nowMs`. Excludes keys whose only roles are on the whole organization. */
export async function readKeysByPlace(db: Database, organizationId: string, nowMs: number): Promise<KeysByPlace> {
  const rows = await db
    .selectFrom('api_keys')
    .innerJoin('grants', 'grants.identity_id', 'api_keys.id')
    .select(['api_keys.id', 'api_keys.epoch'])
    .selectAll('grants')
    .where('api_keys.revoked_ms', 'is', null)
    .where((eb) => eb.or([eb('api_keys.expires_ms', 'is', null), eb('api_keys.expires_ms', '>', nowMs)]))
    .where('api_keys.id', 'in', (eb) =>
      eb
        .selectFrom('grants as placed')
        .select('placed.identity_id')
        .where('placed.organization_id', '=', organizationId)
        .where('placed.identity_type', '=', 'api-key')
        .where((placed) => placed.or([placed('location_id', 'is not', null), placed('robot_id', 'is not', null)])),
    )
    .orderBy('api_keys.created_ms')
    .orderBy('api_keys.id')
    .execute();
  const keys = new Map<string, PlacedKey & { readonly grants: Grant[] }>();
  for (const row of rows) {
    const key = keys.get(row.id) ?? { id: row.id, epoch: row.epoch, grants: [] };
    key.grants.push(grantOfRow(row));
    keys.set(row.id, key);
  }
  const places = new Map<string, Set<PlacedKey>>();
  for (const key of keys.values()) {
    for (const { locationId, robotId } of key.grants) {
      const place = robotId ?? locationId;
      if (place === null) continue;
      const here = places.get(place) ?? new Set();
      places.set(place, here.add(key));
    }
  }
  return new Map([...places].map(([place, here]) => [place, [...here]]));
}

/** Returns key id → key, in plaintext, for the configuration of a machine that checks keys (D6). Omits keys that have ended since. */
export async function readKeySecrets(
  db: Database,
  instanceKey: InstanceKey,
  keys: readonly PlacedKey[],
): Promise<ReadonlyMap<string, string>> {
  if (keys.length === 0) return new Map();
  const rows = await db
    .selectFrom('api_keys')
    .select(['id', 'secret'])
    .where(
      'id',
      'in',
      keys.map(({ id }) => id),
    )
    .where('revoked_ms', 'is', null)
    .orderBy('id')
    .execute();
  return new Map(rows.map(({ id, secret }) => [id, instanceKey.decrypt(secret)]));
}

/** The valid API keys of a machine that expire. */
export async function expiringKeys(
  db: Database,
  machineId: string,
): Promise<{ readonly id: string; readonly name: string; readonly expiresMs: number }[]> {
  const rows = await db
    .selectFrom('api_keys')
    .innerJoin('grants', 'grants.identity_id', 'api_keys.id')
    .select(['api_keys.id', 'api_keys.name', 'api_keys.expires_ms'])
    .distinct()
    .where('grants.identity_type', '=', 'api-key')
    .where('grants.robot_id', '=', machineId)
    .where('api_keys.revoked_ms', 'is', null)
    .where('api_keys.expires_ms', 'is not', null)
    .execute();
  return rows.map(({ id, name, expires_ms: expiresMs }) => ({ id, name, expiresMs: expiresMs ?? 0 }));
}

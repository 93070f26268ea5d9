/**
 * The API keys that a machine accepts from its callers. The machine checks them itself, even without the cloud, so it receives their
 * secrets. A stolen machine must not give access to more than its location, whose secret it holds anyway. Keys with a role outside the
 * location (another location, the whole organization, another organization) are therefore excluded (ADR-0042).
 */
import { create } from '@bufbuild/protobuf';
import type { Clock } from '@platform/base';
import {
  AuthConfigSchema,
  AuthHandlerConfigSchema,
  CredentialsType,
  type RobotConfig,
} from '@platform/proto/platform/app/v1/robot';
import { type PlacedKey, readKeysByPlace } from '../../access/keys-by-place.ts';
import type { Database } from '../../metadata/tables.ts';
import type { Registry } from '../registry.ts';
import { ttlCache } from './ttl-cache.ts';

/** @returns the valid keys that may operate the part's machine and open nothing outside its location, oldest first. */
export function createMachineKeys(deps: {
  readonly db: Database;
  readonly registry: Registry;
  readonly clock: Clock;
}): (partId: string) => Promise<readonly PlacedKey[]> {
  const { db, registry, clock } = deps;
  const keysIn = ttlCache(clock, (organizationId) => readKeysByPlace(db, organizationId, clock.now()));

  return async (partId) => {
    const { organizationId, locationId, robotId } = registry.placeOf(partId);
    const keys = await keysIn(organizationId);
    const near = new Set([...(keys.get(robotId) ?? []), ...(keys.get(locationId) ?? [])]);
    return [...near].filter(({ grants }) =>
      grants.every(
        (grant) =>
          grant.organizationId === organizationId &&
          (grant.robotId === null ? grant.locationId : registry.machine(grant.robotId)?.location_id) === locationId,
      ),
    );
  };
}

/**
 * Adds keys in the format that public machine servers read: a single handler for API keys, with a list of their ids. Keys from the
 * configuration itself come first.
 */
export function addApiKeys(config: RobotConfig, keys: ReadonlyMap<string, string>): void {
  if (keys.size === 0) return;
  config.auth ??= create(AuthConfigSchema);
  const given = config.auth.handlers.find(({ type }) => type === CredentialsType.API_KEY);
  const { keys: _, ...configured } = given?.config ?? {};
  const all = { ...Object.fromEntries(keys), ...configured };
  const handler = create(AuthHandlerConfigSchema, {
    type: CredentialsType.API_KEY,
    config: { ...all, keys: Object.keys(all) },
  });
  config.auth.handlers = [handler, ...config.auth.handlers.filter((other) => other !== given)];
}

/**
 * The API keys that a machine accepts from its callers. It checks them itself, also without the cloud, so it is given their
 * secrets. A stolen machine must not give away more than its location, whose secret it holds anyway: keys with a role outside
 * the location (in another one, on the whole organization, in another organization) are never among them (ADR-0042).
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
import { believed } from './believed.ts';

/** @returns the living keys that may operate the machine of a part, and nothing outside of its location; oldest first. */
export function createMachineKeys(deps: {
  readonly db: Database;
  readonly registry: Registry;
  readonly clock: Clock;
}): (partId: string) => Promise<readonly PlacedKey[]> {
  const { db, registry, clock } = deps;
  const keysIn = believed(clock, (organizationId) => readKeysByPlace(db, organizationId, clock.now()));

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

/** Adds keys to the handler of API keys, as public machine servers read it: one handler, with the list of its ids. Keys of the configuration itself come first. */
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

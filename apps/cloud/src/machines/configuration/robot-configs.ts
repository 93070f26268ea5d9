/**
 * The configuration as a machine receives it, encoded once: a fleet polls every 15 s, and nearly always nothing has changed.
 *
 * The cache key of a part contains everything that affects the result: the version, its fragments, the part's place, the secrets of its
 * location, the API keys that its machine accepts, the caller, the platform, the organization's packages, and the caller's vocabulary. A
 * change of any of them causes a new encoding.
 */
import { toBinary } from '@bufbuild/protobuf';
import type { Clock } from '@platform/base';
import { maskSecrets } from '@platform/machine-config/mask-secrets';
import { parse } from '@platform/machine-config/parse';
import { revisionOf, toRobotConfig } from '@platform/machine-config/robot-config';
import type { Json } from '@platform/machine-config/schema';
import { type RobotConfig, RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { inVocabulary, type Vocabulary } from '@platform/rpc/server';
import { type PlacedKey, readKeySecrets } from '../../access/keys-by-place.ts';
import { type LocationSecret, readLocationSecrets } from '../../accounts/locations/location-secrets.ts';
import type { InstanceKey } from '../../instance/instance-key.ts';
import type { Database } from '../../metadata/tables.ts';
import type { MachineNames } from '../machine-names.ts';
import type { Registry } from '../registry.ts';
import type { CurrentConfiguration } from './current-configuration.ts';
import { addApiKeys, createMachineKeys } from './machine-keys.ts';
import type { ServedPackages } from './served-packages.ts';
import { ttlCache } from './ttl-cache.ts';

export interface AskedConfig {
  readonly partId: string;
  /** The address to which the machine connected. */
  readonly authority: string;
  /** The platform that the machine reports, such as `linux/amd64`; selects its packages. Empty: not reported. */
  readonly platform: string;
  /** Of the caller. */
  readonly vocabulary: Vocabulary;
  /**
   * `all`: with the location's secrets, for the part itself and owners (D6). `own`: the whole configuration, for a key of the machine that
   * runs it. `masked`: for all other callers who may read it (R6).
   */
  readonly secrets: 'all' | 'own' | 'masked';
  /**
   * Whether the caller may receive a key with these roles: the part itself receives all keys that its machine accepts; others receive
   * only those that they own (R5).
   */
  readonly mayHaveKey: (key: PlacedKey) => boolean;
}

/** The secrets that the caller receives. */
interface Handed {
  readonly secrets: readonly LocationSecret[];
  readonly keys: readonly PlacedKey[];
}

export interface EncodedConfig {
  /** Hash of the effective document (D10). */
  readonly revision: string;
  /** A RobotConfig message. */
  readonly bytes: Uint8Array;
}

export interface RobotConfigs {
  message(asked: AskedConfig): Promise<RobotConfig>;
  encoded(asked: AskedConfig): Promise<EncodedConfig>;
  forget(partId: string): void;
}

export function createRobotConfigs(deps: {
  readonly db: Database;
  readonly registry: Registry;
  readonly current: CurrentConfiguration;
  readonly packages: ServedPackages;
  readonly instanceKey: InstanceKey;
  /** Whether the cloud serves TLS. If so, machines fetch a certificate and serve TLS with it, and verify the certificate for signaling. */
  readonly servesTls: boolean;
  readonly names: Pick<MachineNames, 'fqdn' | 'localFqdn'>;
  readonly clock: Clock;
}): RobotConfigs {
  const { registry, current, packages, names, clock } = deps;
  const kept = new Map<string, EncodedConfig & { readonly key: string }>();
  const locationSecrets = ttlCache(clock, (locationId) => readLocationSecrets(deps, [locationId]));
  const machineKeys = createMachineKeys(deps);
  const build = async (asked: AskedConfig, { secrets, keys }: Handed): Promise<RobotConfig> => {
    const { partId, authority } = asked;
    const place = registry.placeOf(partId);
    const effective = await current.effective(partId);
    const config =
      asked.secrets === 'masked' ? parse(maskSecrets(effective.document as Json)).config : effective.config;
    const served = await packages.resolved(config, place.organizationId, asked);
    const cloud = {
      id: partId,
      fqdn: names.fqdn(partId),
      localFqdn: names.localFqdn(partId),
      signalingAddress: authority,
      signalingInsecure: !deps.servesTls,
      locationSecrets: secrets.map(({ id, secret }) => ({ id, secret })),
      primaryOrgId: place.organizationId,
      locationId: place.locationId,
      machineId: place.robotId,
    };
    // Resolved packages are not part of the configuration: its revision stays that of the saved document.
    const message = toRobotConfig(served, cloud, revisionOf(config));
    addApiKeys(message, await readKeySecrets(deps.db, deps.instanceKey, keys));
    return message;
  };
  const handedTo = async ({ partId, secrets, mayHaveKey }: AskedConfig): Promise<Handed> =>
    secrets === 'all'
      ? {
          secrets: await locationSecrets(registry.placeOf(partId).locationId),
          keys: (await machineKeys(partId)).filter(mayHaveKey),
        }
      : { secrets: [], keys: [] };

  return {
    message: async (asked) => build(asked, await handedTo(asked)),
    async encoded(asked) {
      const { partId, authority, platform, vocabulary } = asked;
      const slot = slotOf(partId, asked.secrets);
      const stamp = await current.stampOf(partId);
      const handed = await handedTo(asked);
      const { organizationId, locationId, robotId } = registry.placeOf(partId);
      const packagesStamp = packages.stampOf(organizationId);
      const ids = [...handed.secrets.map(({ id }) => id), ...handed.keys.map(({ id, epoch }) => `${id} ${epoch}`)];
      const place = [organizationId, locationId, robotId];
      const key = [stamp, ...place, authority, platform, packagesStamp, vocabulary, ...ids].join('\n');
      const found = kept.get(slot);
      if (found?.key === key) return found;
      const message = await build(asked, handed);
      const bytes = toBinary(RobotConfigSchema, inVocabulary(vocabulary, RobotConfigSchema, message) as RobotConfig);
      const encoded = { key, revision: message.revision, bytes };
      // If a save came in between, the stamp has changed, and the result must not be cached under the old one.
      if (
        (await current.stampOf(partId)) === stamp &&
        packages.stampOf(organizationId) === packagesStamp &&
        registry.part(partId) !== undefined
      )
        kept.set(slot, encoded);
      return encoded;
    },
    forget(partId) {
      for (const secrets of ['all', 'own', 'masked'] as const) kept.delete(slotOf(partId, secrets));
    },
  };
}

function slotOf(partId: string, secrets: AskedConfig['secrets']): string {
  return `${partId} ${secrets}`;
}

/** Finds the secrets in a configuration, so that the log can hide them wherever they occur. */
import type { Steps } from '@platform/base';
import { isSecretPath } from '@platform/machine-config/mask-secrets';
import type { MachineConfig, ResourceConfig } from '@platform/machine-config/schema';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import { secretsOf } from '../serve/authenticate.ts';

/** Minimum length of texts to hide under keys that look secret; a shorter one may be a word of ordinary lines. */
const leastLength = 8;

/** Keys of callers, secrets of the location, and every text under a key that looks secret (`password`, `api_key`, …; not `key` alone). */
export function* configuredSecrets(message: RobotConfig, config: MachineConfig): Steps<ReadonlySet<string>> {
  const { keys, locationSecrets } = secretsOf(message);
  const secrets = new Set([...keys.values(), ...locationSecrets]);
  const { components, services, ...sections } = config;
  collect(sections, false, '', secrets);
  for (const list of [components, services])
    for (const each of list) {
      for (const text of secretsIn(each)) secrets.add(text);
      yield;
    }
  return secrets;
}

const known = new WeakMap<ResourceConfig, ReadonlySet<string>>();
const none: ReadonlySet<string> = new Set();

function secretsIn(resource: ResourceConfig): ReadonlySet<string> {
  let found = known.get(resource);
  if (found === undefined) {
    const secrets = new Set<string>();
    collect(resource, false, '', secrets);
    found = secrets.size === 0 ? none : secrets;
    known.set(resource, found);
  }
  return found;
}

function collect(value: unknown, isSecret: boolean, above: string, secrets: Set<string>): void {
  if (typeof value === 'string') {
    if (isSecret && value.length >= leastLength) secrets.add(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value))
      collect(
        item,
        // The type of a credential is one of a few words, and what may be wrong with it.
        (isSecret && key !== 'type') ||
          (!Array.isArray(value) &&
            key.toLowerCase() !== 'key' &&
            isSecretPath(above === 'docdb_capture_config' ? [above, key] : [key])),
        key,
        secrets,
      );
  }
}

/** The secrets in a configuration, so that the log can hide them wherever they occur. */

import { isSecretPath } from '@platform/machine-config/mask-secrets';
import type { MachineConfig } from '@platform/machine-config/schema';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import { secretsOf } from '../serve/authenticate.ts';

/** Texts under keys that look secret are hidden from this length on; a shorter one may be a word of ordinary lines. */
const leastLength = 8;

/** Keys of callers, secrets of the location, and every text under a key that looks secret (`password`, `api_key`, …; not `key` alone). */
export function configuredSecrets(message: RobotConfig, config: MachineConfig): ReadonlySet<string> {
  const { keys, locationSecrets } = secretsOf(message);
  const secrets = new Set([...keys.values(), ...locationSecrets]);
  const collect = (value: unknown, isSecret: boolean, above: string): void => {
    if (typeof value === 'string') {
      if (isSecret && value.length >= leastLength) secrets.add(value);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value))
        collect(
          item,
          isSecret ||
            (!Array.isArray(value) &&
              key.toLowerCase() !== 'key' &&
              isSecretPath(above === 'docdb_capture_config' ? [above, key] : [key])),
          key,
        );
    }
  };
  collect(config, false, '');
  return secrets;
}

/** Information about the machine in a configuration, for the environment of modules. */
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import type { MachineIdentity } from '../modules/modules-deps.ts';
import { secretsOf } from './authenticate.ts';

export function identityOf(config: RobotConfig, partId: string): MachineIdentity {
  const { machineId = '', fqdn = '', locationId = '', primaryOrgId = '' } = config.cloud ?? {};
  // Of several keys, the first one in alphabetical order, so that it is always the same.
  const [[apiKeyId, apiKey] = ['', '']] = [...secretsOf(config).keys].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { machineId, partId, fqdn, locationId, primaryOrgId, apiKeyId, apiKey };
}

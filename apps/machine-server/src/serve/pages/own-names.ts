/** The names by which pages may call this machine, and those that its settings add (D50). */
import { hostname } from 'node:os';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import { machineNames } from '../../config/machine-names.ts';
import { ownHostName } from '../../mdns/feature.ts';
import type { OwnNames } from './page-rule.ts';

/** @param local the settings of the machine's local file */
export function ownNames(
  { cloud, network }: RobotConfig,
  local: Pick<OwnNames, 'allowedHosts' | 'allowedOrigins'> | undefined,
): OwnNames {
  const computer = ownHostName();
  return {
    names: [hostname(), computer, `${computer}.local`, ...machineNames(cloud)],
    allowedHosts: [...(local?.allowedHosts ?? []), ...(network?.allowedHosts ?? [])],
    allowedOrigins: [...(local?.allowedOrigins ?? []), ...(network?.allowedOrigins ?? [])],
  };
}

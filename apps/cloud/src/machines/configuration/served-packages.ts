/** What machines get for the packages and registry modules of their configuration; the packages feature answers. */
import type { Problem } from '@platform/base';
import type { MachineConfig } from '@platform/machine-config/schema';

export interface ServedPackages {
  /** Changes whenever the packages of an organization do. */
  stampOf(organizationId: string): string;
  /** The configuration as a machine gets it. @param platform of the machine, such as `linux/amd64`; empty: not known */
  resolved(config: MachineConfig, organizationId: string, platform: string): Promise<MachineConfig>;
  /** Packages and registry modules of a configuration that cannot be served, as warnings with their paths. */
  problemsOf(config: MachineConfig, organizationId: string): Promise<readonly Problem[]>;
}

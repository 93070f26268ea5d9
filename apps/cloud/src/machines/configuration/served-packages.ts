/** Packages and registry modules in the configurations that machines receive; implemented by the packages feature. */
import type { Problem } from '@platform/base';
import type { MachineConfig } from '@platform/machine-config/schema';

export interface ServedPackages {
  /** Changes whenever the organization's packages change. */
  stampOf(organizationId: string): string;
  /** The configuration as a machine receives it. @param platform of the machine, such as `linux/amd64`; empty: unknown */
  resolved(config: MachineConfig, organizationId: string, platform: string): Promise<MachineConfig>;
  /** Packages and registry modules of a configuration that cannot be served, as warnings with their paths. */
  problemsOf(config: MachineConfig, organizationId: string): Promise<readonly Problem[]>;
}

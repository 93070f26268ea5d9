/** Packages and registry modules in the configurations that machines receive; implemented by the packages feature. */
import type { Problem } from '@platform/base';
import type { MachineConfig } from '@platform/machine-config/schema';
import type { Vocabulary } from '@platform/rpc/server';

export interface ServedPackages {
  /** Changes whenever the organization's packages change. */
  stampOf(organizationId: string): string;
  /** The configuration as a machine receives it. @param peer its platform, such as `linux/amd64` (empty: unknown), and its vocabulary */
  resolved(
    config: MachineConfig,
    organizationId: string,
    peer: { readonly platform: string; readonly vocabulary: Vocabulary },
  ): Promise<MachineConfig>;
  /** Packages and registry modules of a configuration that cannot be served, as warnings with their paths. */
  problemsOf(config: MachineConfig, organizationId: string): Promise<readonly Problem[]>;
}

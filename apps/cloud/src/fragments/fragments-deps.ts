/** Dependencies of the fragments feature on other features. */
import type { ClockAndLog } from '@platform/base';
import type { MachinesDeps } from '../machines/feature.ts';
import type { FragmentReader } from './reader.ts';
import type { RevisionCache } from './revision-cache.ts';

export interface FragmentsDeps
  extends ClockAndLog,
    Pick<MachinesDeps, 'db' | 'tree' | 'access' | 'onConfigurationChange' | 'triggerProblems' | 'targetProblems'> {
  /** The newest saved document of a part. */
  readonly documentOf: (partId: string) => Promise<unknown>;
  /** Logs to the part's own log, for its owners, that a fragment change did not reach it. Does not reject. */
  readonly tellPart: (partId: string, message: string) => Promise<void>;
  /** Maximum number of fragments of an organization. */
  readonly maxFragmentsOf: (organizationId: string) => number;
  /** Limit for the configurations of one fragment together. Default: 64 MiB. */
  readonly maxHistoryBytes?: number;
}

/** Dependencies of the operations. */
export interface FragmentOperationDeps extends FragmentsDeps {
  readonly reader: FragmentReader;
  readonly cache: RevisionCache;
}

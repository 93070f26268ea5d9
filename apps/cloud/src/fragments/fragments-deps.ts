/** Dependencies of the fragments feature on other features. */
import type { ClockAndLog } from '@platform/base';
import type { Access } from '../access/authorize.ts';
import type { AccountTree } from '../accounts/tree.ts';
import type { TriggerProblems } from '../machines/configuration/check-document.ts';
import type { OnConfigurationChange } from '../machines/configuration/configuration-change.ts';
import type { Database } from '../metadata/tables.ts';
import type { FragmentReader } from './reader.ts';
import type { RevisionCache } from './revision-cache.ts';

export interface FragmentsDeps extends ClockAndLog {
  readonly db: Database;
  readonly tree: AccountTree;
  readonly access: Access;
  /** Finds problems in the triggers of a document; implemented by the triggers feature. */
  readonly triggerProblems: TriggerProblems;
  /** The newest saved document of a part. */
  readonly documentOf: (partId: string) => Promise<unknown>;
  readonly onConfigurationChange: OnConfigurationChange;
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

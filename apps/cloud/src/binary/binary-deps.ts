/** Dependencies of binary data on the rest of the cloud. */
import type { ClockAndLog } from '@platform/base';
import type { Access } from '../access/authorize.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { RowWatch } from '../metadata/row-checks/row-watch.ts';
import type { Database } from '../metadata/tables.ts';

export interface BinaryOperationDeps extends ClockAndLog {
  readonly db: Database;
  /** Refuses answers that altered, missing or added rows could change (D33). */
  readonly rows: Pick<RowWatch, 'requireRight' | 'requireCoveredRight' | 'requireComplete' | 'requireIntact'>;
  readonly access: Access;
  readonly blobs: Pick<BlobStore, 'get' | 'remove'>;
  readonly instanceKey: InstanceKey;
  /** Resolves with the log position once everything acknowledged before the call can be found. @throws unavailable */
  readonly caughtUp: (signal: AbortSignal) => Promise<number>;
  /** The address at which the caller reached this cloud, without a trailing slash. */
  readonly baseUrl: (metadata: Headers) => string;
  /** Called with the number of bytes of a file that were read for a caller, even if the caller disconnected early. */
  readonly onSent: (organizationId: string, bytes: number) => void;
}

/** What binary data needs of the rest of the cloud. */
import type { Clock, Log } from '@platform/base';
import type { Access } from '../access/authorize.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';

export interface BinaryOperationDeps {
  readonly db: Database;
  readonly access: Access;
  readonly blobs: Pick<BlobStore, 'get' | 'remove'>;
  readonly instanceKey: InstanceKey;
  /** Resolves once everything acknowledged before can be found: its position in the log. @throws unavailable */
  readonly caughtUp: (signal: AbortSignal) => Promise<number>;
  /** The address by which the caller reached this cloud, without a slash at its end. */
  readonly baseUrl: (metadata: Headers) => string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Dependencies shared by the operations on packages. */
import type { ClockAndLog } from '@platform/base';
import type { Access } from '../access/authorize.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';
import type { ServePackages } from './serve-packages.ts';

export interface PackagesDeps extends ClockAndLog {
  readonly db: Database;
  readonly blobs: Pick<BlobStore, 'put' | 'get' | 'remove'>;
  readonly access: Access;
  readonly instanceKey: InstanceKey;
  readonly served: Pick<ServePackages, 'changed'>;
  /** Id of the organization with this id or public namespace. */
  readonly organizationNamed: (name: string) => string | undefined;
  /** Public namespace of an organization; empty: none. */
  readonly namespaceOf: (organizationId: string) => string;
  /** @throws resource_exhausted if the disk is too full for uploads (I13) */
  readonly requireSpace: () => Promise<void>;
  /** Address at which the caller reached this cloud. */
  readonly baseUrl: (metadata: Headers) => string;
  /** Default: 2 GiB. */
  readonly maxBytes?: number;
}

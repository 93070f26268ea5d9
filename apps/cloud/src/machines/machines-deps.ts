/** Dependencies that the operations on machines and parts share. */
import type { Clock } from '@platform/base';
import type { Caller } from '../access/audit.ts';
import type { Access } from '../access/authorize.ts';
import type { Principal } from '../access/principal.ts';
import type { AccountTree } from '../accounts/tree.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database, DatabaseTransaction } from '../metadata/tables.ts';
import type { Configurations } from './configuration/configuration.ts';
import type { CurrentConfiguration } from './configuration/current-configuration.ts';
import type { MachineMessages } from './machine-messages.ts';
import type { MachineNames } from './machine-names.ts';
import type { PartStatuses } from './part-status.ts';
import type { Registry } from './registry.ts';

export interface MachineOperationDeps {
  readonly db: Database;
  readonly access: Access;
  readonly tree: AccountTree;
  readonly registry: Registry;
  readonly configurations: Configurations;
  readonly current: CurrentConfiguration;
  readonly statuses: PartStatuses;
  readonly messages: MachineMessages;
  readonly names: Pick<MachineNames, 'fqdn'>;
  readonly instanceKey: InstanceKey;
  readonly clock: Clock;
  /** The initial document of an organization's new machines, as text: its default fragments. Undefined: none. */
  readonly firstDocument: (organizationId: string) => string | undefined;
  /** Writes to the new machine's log why its initial document was not used. */
  readonly firstDocumentRefused: (partId: string, reason: string) => Promise<void>;
  /** Whether the caller may read a fragment. */
  readonly seesFragment: (principal: Principal, fragmentId: string) => Promise<boolean>;
  /** Runs in the transaction that deletes the part: other features delete their data about it. */
  readonly onDeleting: (trx: DatabaseTransaction, partId: string, by: Caller) => Promise<void>;
  /** Called after the commit, to drop what is cached about the part. */
  readonly forgetPart: (partId: string) => void;
  /** Must be called after a commit that ended roles, keys or secrets: all following calls then see the change. */
  readonly accessChanged: () => void;
}

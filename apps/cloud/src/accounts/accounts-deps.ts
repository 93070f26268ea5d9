/** Dependencies of the accounts feature on other features. */
import type { Clock } from '@platform/base';
import type { Access } from '../access/authorize.ts';
import type { EndedKey } from '../access/grants.ts';
import type { Principal } from '../access/principal.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { Database } from '../metadata/tables.ts';
import type { AccountTree } from './tree.ts';

export interface AccountsDeps {
  readonly db: Database;
  readonly tree: AccountTree;
  readonly access: Access;
  readonly instanceKey: InstanceKey;
  readonly clock: Clock;
  /** The machines directly in a location. */
  machinesOf(locationId: string): readonly { readonly id: string; readonly name: string }[];
  /** The names of a location's machines as the transaction sees them, including those not yet in memory. */
  machineNamesIn(trx: Database, locationId: string): Promise<readonly string[]>;
  /** Whether this caller may use the fragment. */
  seesFragment(principal: Principal, fragmentId: string): boolean | Promise<boolean>;
  /** URL of this installation for clients, such as `https://fleet.example`; without a trailing slash. */
  baseUrl(): string;
  /** Called after each commit that changed roles or sharing. */
  accessChanged(): void;
  /** Remembers the keys that ended with a deletion, so that those who still use them are told. Called after the commit. */
  keysEnded(keys: readonly EndedKey[], place: 'location' | 'organization'): void;
  /** Called in this order when an organization is deleted, so that other features delete their data about it. */
  readonly organizationDeleting: readonly OrganizationDeleting[];
}

/** Deletes a feature's rows in the transaction of the deletion. @throws failed_precondition naming what still uses the organization */
export type OrganizationDeleting = (trx: Database, organizationId: string) => Promise<void>;

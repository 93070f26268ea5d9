/** What the accounts feature needs of its neighbours. */
import type { Clock } from '@platform/base';
import type { Kysely } from 'kysely';
import type { Access } from '../access/authorize.ts';
import type { Principal } from '../access/principal.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import type { CloudTables, Database } from '../metadata/tables.ts';
import type { AccountTree } from './tree.ts';

export interface AccountsDeps {
  readonly db: Database;
  readonly tree: AccountTree;
  readonly access: Access;
  readonly instanceKey: InstanceKey;
  readonly clock: Clock;
  /** The machines directly in a location. */
  machinesOf(locationId: string): readonly { readonly id: string; readonly name: string }[];
  /** The same as the transaction has them, created since the last commit too. */
  machineNamesIn(trx: Kysely<CloudTables>, locationId: string): Promise<readonly string[]>;
  /** May this caller use the fragment? */
  seesFragment(principal: Principal, fragmentId: string): boolean | Promise<boolean>;
  /** Where clients reach this installation, such as `https://fleet.example`; no slash at the end. */
  baseUrl(): string;
  /** Called after each commit that changed roles or sharing. */
  accessChanged(): void;
  /** An organization is being deleted: what other features keep about it goes with it. In this order. */
  readonly organizationDeleting: readonly OrganizationDeleting[];
}

/** Deletes a feature's own rows in the transaction of the deletion. @throws failed_precondition saying what still uses it */
export type OrganizationDeleting = (trx: Kysely<CloudTables>, organizationId: string) => Promise<void>;

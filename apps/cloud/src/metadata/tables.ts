/** The row types of every table in the metadata, collected from the features that own them (types only, so that nothing is loaded). */
import type { Kysely, Transaction } from 'kysely';
import type { AccessTables } from '../access/store.ts';
import type { AccountsTables } from '../accounts/store.ts';
import type { AdminTables } from '../admin/store.ts';
import type { BillingTables } from '../billing/store.ts';
import type { BinaryTables } from '../binary/store.ts';
import type { LogCursorsTables } from '../follow-log/store.ts';
import type { FragmentsTables } from '../fragments/store.ts';
import type { GapsTables } from '../gaps/store.ts';
import type { IdentityTables } from '../identity/store.ts';
import type { InstanceTables } from '../instance/store.ts';
import type { MachineLogsTables } from '../machines/logs/store.ts';
import type { PresenceTables } from '../machines/presence/store.ts';
import type { MachinesTables } from '../machines/store.ts';
import type { OutboxTables } from '../outbox/store.ts';
import type { PackagesTables } from '../packages/store.ts';
import type { QueriesTables } from '../queries/store.ts';
import type { RetentionTables } from '../retention/store.ts';
import type { TabularTables } from '../tabular/store.ts';
import type { TriggersTables } from '../triggers/store.ts';

// Each feature's store.ts exports its XxxTables; adding a feature adds one line here.
export interface CloudTables
  extends AccessTables,
    AccountsTables,
    AdminTables,
    BillingTables,
    BinaryTables,
    FragmentsTables,
    GapsTables,
    IdentityTables,
    InstanceTables,
    LogCursorsTables,
    MachineLogsTables,
    MachinesTables,
    PresenceTables,
    OutboxTables,
    PackagesTables,
    QueriesTables,
    RetentionTables,
    TabularTables,
    TriggersTables {}

export type Database = Kysely<CloudTables>;
export type DatabaseTransaction = Transaction<CloudTables>;

/** Tables of retention: how long the data of each part is kept according to its current configuration. */
import { type CheckedTable, checkedIn } from '../metadata/row-checks/checked-table.ts';
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

export interface RetentionTables {
  /**
   * One row for each part that was ever configured, updated in the transactions that save configurations and fragments. The row of a
   * deleted part stays, because its data also stays for its retention.
   */
  data_policies: {
    part_id: string;
    organization_id: string;
    /** JSON DataPolicies of @platform/machine-config. */
    policies: string;
    /** Number of the organization's change that wrote it. */
    change: number;
  };
  /** Counts the changes of an organization's policies, so that cached policies are reread only when they changed. */
  data_policy_changes: { organization_id: string; change: number };
}

const statements: readonly string[] = [
  'create table data_policies (part_id text primary key, organization_id text not null, policies text not null, change bigint not null, row_check text)',
  'create index data_policies_by_change on data_policies (organization_id, change)',
  'create table data_policy_changes (organization_id text primary key, change bigint not null, row_check text)',
];

const checked = checkedIn(statements);

/** Rows that decide what is deleted, and which readings queries see. */
export const dataPolicies: CheckedTable = checked('data_policies', 'data policies of part', {
  owner: 'organization_id',
});

export const dataPolicyChanges: CheckedTable = checked(
  'data_policy_changes',
  'number of changes of the data policies of organization',
  { owner: 'organization_id' },
);

export const retentionSchema: Schema = {
  statements,
  checked: [dataPolicies, dataPolicyChanges],
};

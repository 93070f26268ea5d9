/** Tables of retention: how long the data of each part is kept according to its current configuration. */
import type { CheckedTable } from '../metadata/row-checks/checked-table.ts';
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

/** Rows that decide what is deleted, and which readings queries see. */
export const dataPolicies: CheckedTable = {
  table: 'data_policies',
  what: 'data policies of part',
  key: ['part_id'],
  columns: ['part_id', 'organization_id', 'policies', 'change'],
  owner: 'organization_id',
};

export const dataPolicyChanges: CheckedTable = {
  table: 'data_policy_changes',
  what: 'number of changes of the data policies of organization',
  key: ['organization_id'],
  columns: ['organization_id', 'change'],
  owner: 'organization_id',
};

const retentionChecked: readonly CheckedTable[] = [dataPolicies, dataPolicyChanges];

export const retentionSchema: Schema = {
  statements: [
    'create table data_policies (part_id text primary key, organization_id text not null, policies text not null, change bigint not null, row_check text)',
    'create index data_policies_by_change on data_policies (organization_id, change)',
    'create table data_policy_changes (organization_id text primary key, change bigint not null, row_check text)',
  ],
  checked: retentionChecked,
};

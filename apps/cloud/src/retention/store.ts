/** Tables of retention: what the current configuration of each part says of how long its data is kept. */

export interface RetentionTables {
  /**
   * One row for each part that was ever configured; it moves in the transactions that save configurations and fragments. That of a
   * deleted part stays as it was: its data stays too, for as long as it was meant to.
   */
  data_policies: {
    part_id: string;
    organization_id: string;
    /** JSON DataPolicies of @platform/machine-config. */
    policies: string;
    /** The change of the organization that wrote it. */
    change: number;
  };
  /** Counts the changes of an organization's policies, so that what is read once is read again only when it changed. */
  data_policy_changes: { organization_id: string; change: number };
}

export const retentionV3: readonly string[] = [
  `create table data_policies (part_id text primary key, organization_id text not null, policies text not null, change bigint not null)`,
  `create index data_policies_by_change on data_policies (organization_id, change)`,
  `create table data_policy_changes (organization_id text primary key, change bigint not null)`,
];

/** Tables of the host administrator: limits of organizations. */

export interface AdminTables {
  /** Limits set by the host administrator; a limit without a row has its default. */
  limits: { organization_id: string; name: string; value: number; changed_ms: number };
}

export const adminV2: readonly string[] = [
  `create table limits (organization_id text not null, name text not null, value bigint not null, changed_ms bigint not null, primary key (organization_id, name))`,
];

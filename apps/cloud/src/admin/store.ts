/** Tables of the host administrator: limits of organizations, and what the installation knows of itself. */

export interface AdminTables {
  /** What the host administrator set; a limit without a row has its default. */
  limits: { organization_id: string; name: string; value: number; changed_ms: number };
  /** By name: `instance-key` (the id of the key that every sealed value is under), `restored` (JSON, from which backup). */
  instance_state: { name: string; value: string };
}

export const adminV2: readonly string[] = [
  `create table limits (organization_id text not null, name text not null, value bigint not null, changed_ms bigint not null, primary key (organization_id, name))`,
  `create table instance_state (name text primary key, value text not null)`,
];

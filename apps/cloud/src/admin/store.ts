/** Tables of the host administrator: limits of organizations, and loopback targets that their webhooks may go to. */
import { type CheckedTable, checkedIn } from '../metadata/row-checks/checked-table.ts';
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

export interface AdminTables {
  /** Limits set by the host administrator; a limit without a row has its default. */
  limits: { organization_id: string; name: string; value: number; changed_ms: number };
  /** `address`: 127.x.x.x or ::1, which webhooks of the organization may reach on this port (D43). */
  allowed_webhook_targets: { organization_id: string; address: string; port: number; allowed_ms: number };
}

const statements: readonly string[] = [
  'create table limits (organization_id text not null, name text not null, value bigint not null, changed_ms bigint not null, primary key (organization_id, name))',
  'create table allowed_webhook_targets (organization_id text not null, address text not null, port bigint not null, allowed_ms bigint not null, row_check text, primary key (organization_id, address, port))',
];

/** Rows that decide which programs of this computer an organization reaches. */
export const allowedWebhookTargets: CheckedTable = checkedIn(statements)(
  'allowed_webhook_targets',
  'allowed webhook target of organization',
  { owner: 'organization_id' },
);

export const adminSchema: Schema = { statements, checked: [allowedWebhookTargets] };

/** Tables of the host administrator: limits of organizations. */
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

export interface AdminTables {
  /** Limits set by the host administrator; a limit without a row has its default. */
  limits: { organization_id: string; name: string; value: number; changed_ms: number };
}

export const adminSchema: Schema = {
  statements: [
    'create table limits (organization_id text not null, name text not null, value bigint not null, changed_ms bigint not null, primary key (organization_id, name))',
  ],
};

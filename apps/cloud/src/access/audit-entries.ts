/** Reads the audit trail, newest first. */
import type { Selectable } from 'kysely';
import type { Database } from '../metadata/tables.ts';
import type { AccessTables } from './store.ts';

export type AuditEntry = Selectable<AccessTables['audit_entries']>;

export interface AuditQuery {
  /** Null: entries of the installation itself; absent: all entries. */
  readonly organizationId?: string | null | undefined;
  /** Only entries about this target. */
  readonly targetId?: string | undefined;
  /** Only entries older than this one. */
  readonly beforeId?: number | undefined;
  readonly limit: number;
}

export async function auditEntries(db: Database, query: AuditQuery): Promise<readonly AuditEntry[]> {
  const { organizationId, targetId, beforeId, limit } = query;
  let select = db.selectFrom('audit_entries').selectAll().orderBy('id', 'desc').limit(limit);
  if (organizationId === null) select = select.where('organization_id', 'is', null);
  else if (organizationId !== undefined) select = select.where('organization_id', '=', organizationId);
  if (targetId !== undefined) select = select.where('target_id', '=', targetId);
  if (beforeId !== undefined) select = select.where('id', '<', beforeId);
  return select.execute();
}

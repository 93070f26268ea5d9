/** Reads the audit trail, newest first, and counts it. */
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

type Target = Pick<AuditQuery, 'organizationId' | 'targetId'>;

export async function auditEntries(db: Database, query: AuditQuery): Promise<readonly AuditEntry[]> {
  const { beforeId, limit } = query;
  let select = about(db, query).selectAll().orderBy('id', 'desc').limit(limit);
  if (beforeId !== undefined) select = select.where('id', '<', beforeId);
  return select.execute();
}

export async function countAuditEntries(db: Database, query: Target): Promise<number> {
  const { entries } = await about(db, query)
    .select(({ fn }) => fn.countAll().as('entries'))
    .executeTakeFirstOrThrow();
  return Number(entries);
}

function about(db: Database, { organizationId, targetId }: Target) {
  let select = db.selectFrom('audit_entries');
  if (organizationId === null) select = select.where('organization_id', 'is', null);
  else if (organizationId !== undefined) select = select.where('organization_id', '=', organizationId);
  return targetId === undefined ? select : select.where('target_id', '=', targetId);
}

/** The whole audit trail for the host administrator: newest first, a page at a time. */
import { auditEntries } from '../access/audit-entries.ts';
import { storedOrganizations } from '../accounts/organizations/stored-organizations.ts';
import { placeNames } from '../machines/part-places.ts';
import type { Database } from '../metadata/tables.ts';

export interface AuditLine {
  readonly id: number;
  readonly atMs: number;
  readonly actorKind: string;
  readonly actorId: string;
  readonly actorName: string;
  readonly action: string;
  /** Null: the installation itself. */
  readonly organizationId: string | null;
  readonly targetKind: string;
  readonly targetId: string;
  /** Its present name, otherwise the name in the entry, if any. */
  readonly targetName: string | null;
  readonly detail: unknown;
  readonly peerAddress: string;
}

const maxLines = 1_000;

/** @param page `before`: only ids below this one, for the next page. `limit`: default 100, at most 1,000. */
export async function listAudit(
  db: Database,
  page: {
    readonly organizationId?: string | undefined;
    readonly before?: number | undefined;
    readonly limit?: number | undefined;
  },
): Promise<AuditLine[]> {
  const limit = Math.max(1, Math.min(maxLines, Math.trunc(page.limit ?? 100)));
  const rows = await auditEntries(db, { organizationId: page.organizationId, beforeId: page.before, limit });
  const targets = new Set(rows.map((row) => row.target_id));
  const names = new Map([
    ...(await placeNames(db, [...targets])),
    ...(await storedOrganizations(db)).map(({ id, name }): [string, string] => [id, name]),
  ]);
  return rows.map((row) => ({
    id: row.id,
    atMs: row.at_ms,
    actorKind: row.actor_kind,
    actorId: row.actor_id,
    actorName: row.actor_name,
    action: row.action,
    organizationId: row.organization_id,
    targetKind: row.target_kind,
    targetId: row.target_id,
    targetName: names.get(row.target_id) ?? nameIn(JSON.parse(row.detail)),
    detail: JSON.parse(row.detail),
    peerAddress: row.peer_address,
  }));
}

function nameIn(detail: unknown): string | null {
  const { name } = Object(detail);
  return typeof name === 'string' ? name : null;
}

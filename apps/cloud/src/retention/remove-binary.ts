/** Deletes binary data whose days are over, what is above the size limits of its resource, and what is left of deleted parts (D24). */
import type { DataPolicies } from '@platform/machine-config/data-policies';
import { type Expression, type SqlBool, sql } from 'kysely';
import { audit } from '../access/audit.ts';
import { deleteFiles } from '../binary/change/delete-files.ts';
import { isExpired } from '../binary/retention-days/is-kept.ts';
import type { Database } from '../metadata/tables.ts';
import { cutoffDay } from './cutoff-day.ts';
import { systemActor } from './system-actor.ts';

/** Files in one transaction, which all writers wait for. */
const filesAtOnce = 200;
const dayMs = 86_400_000;

/** @returns how many files were deleted. */
export async function removeBinary(
  db: Database,
  organizationId: string,
  parts: ReadonlyMap<string, DataPolicies>,
  nowMs: number,
  signal: AbortSignal,
): Promise<number> {
  let removed = await removeWhere(db, organizationId, isExpired(nowMs), signal);
  const today = dayText(Math.floor(nowMs / dayMs));
  for (const [partId, policies] of parts) {
    for (const resource of policies.resources) {
      if (resource.binaryLimitGb === undefined) continue;
      const ofResource = sql<SqlBool>`part_id = ${partId} and component_type = ${resource.api} and component_name = ${resource.name}`;
      const sizes = await sizesOf(db, organizationId, ofResource);
      const beforeDay = cutoffDay(sizes, resource.binaryLimitGb, today);
      if (beforeDay === undefined) continue;
      const over = sql<SqlBool>`${ofResource} and capture_day < ${dayNumber(beforeDay)}`;
      removed += await removeWhere(db, organizationId, over, signal);
    }
  }
  if (removed > 0) {
    const detail = { files: removed };
    const target = { targetKind: 'organization', targetId: organizationId };
    await audit(db, systemActor, { action: 'platform.retention.binary', organizationId, ...target, detail }, nowMs);
  }
  return removed;
}

/**
 * All of an organization, or of a part of it; also what an upload that was let in before their deletion brought after it.
 * @returns how many files were deleted.
 */
export function removeBinaryOf(
  db: Database,
  organizationId: string,
  signal: AbortSignal,
  partId?: string,
): Promise<number> {
  const condition = partId === undefined ? sql<SqlBool>`1 = 1` : sql<SqlBool>`part_id = ${partId}`;
  return removeWhere(db, organizationId, condition, signal);
}

async function removeWhere(
  db: Database,
  organizationId: string,
  condition: Expression<SqlBool>,
  signal: AbortSignal,
): Promise<number> {
  for (let removed = 0; ; ) {
    signal.throwIfAborted();
    const files = await db
      .selectFrom('binary_data')
      .select(['id', 'blob_path'])
      .where('organization_id', '=', organizationId)
      .where(condition)
      .limit(filesAtOnce)
      .execute();
    if (files.length > 0) removed += await db.transaction().execute((trx) => deleteFiles(trx, files));
    if (files.length < filesAtOnce) return removed;
  }
}

async function sizesOf(
  db: Database,
  organizationId: string,
  condition: Expression<SqlBool>,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('binary_data')
    .select(['capture_day', sql<number>`cast(sum(size_bytes) as bigint)`.as('bytes')])
    .where('organization_id', '=', organizationId)
    .where(condition)
    .groupBy('capture_day')
    .execute();
  return new Map(rows.map((row) => [dayText(row.capture_day), Number(row.bytes)]));
}

function dayNumber(day: string): number {
  return Math.floor(Date.parse(`${day}T00:00:00Z`) / dayMs);
}

function dayText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

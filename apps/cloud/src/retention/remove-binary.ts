/** Deletes binary data whose days are over, what is above the size limits of its resource, and what is left of deleted parts (D24). */
import { type DataPolicies, retentionDaysOf } from '@platform/machine-config/data-policies';
import { sql } from 'kysely';
import { audit } from '../access/audit.ts';
import { deleteFiles } from '../binary/delete-files.ts';
import type { Database } from '../metadata/tables.ts';
import type { PathRule } from '../tabular/row-filter.ts';
import { firstDayWithin } from './first-day-within.ts';
import { itself } from './itself.ts';
import { firstKeptDay, standingRules } from './standing-rules.ts';

/** Files in one transaction, which all writers wait for. */
const filesAtOnce = 200;
/** Stores bound the parameters of a statement. */
const partsAtOnce = 500;
const dayMs = 86_400_000;

/** @returns how many files were deleted. */
export async function removeBinary(
  db: Database,
  organizationId: string,
  parts: ReadonlyMap<string, DataPolicies>,
  nowMs: number,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (const { paths, beforeDay } of standingRules(parts, nowMs).expired)
    removed += await removeBefore(db, organizationId, paths, beforeDay, signal);
  const today = dayText(Math.floor(nowMs / dayMs));
  for (const [partId, policies] of parts) {
    for (const resource of policies.resources) {
      if (resource.binaryLimitGb === undefined) continue;
      const paths = { part_id: [partId], component_type: [resource.api], component_name: [resource.name] };
      const days = retentionDaysOf(policies, resource);
      const sizes = await sizesOf(db, organizationId, paths, days === undefined ? '' : firstKeptDay(days, nowMs));
      const beforeDay = firstDayWithin(sizes, resource.binaryLimitGb, today);
      if (beforeDay !== undefined) removed += await removeBefore(db, organizationId, paths, beforeDay, signal);
    }
  }
  if (removed > 0) {
    const detail = { files: removed };
    const target = { targetKind: 'organization', targetId: organizationId };
    await audit(db, itself, { action: 'platform.retention.binary', organizationId, ...target, detail }, nowMs);
  }
  return removed;
}

/** Also what an upload that was let in before the deletion brought after it. */
export async function removeBinaryOfPart(db: Database, partId: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const files = await db
      .selectFrom('binary_data')
      .select(['id', 'blob_path'])
      .where('part_id', '=', partId)
      .limit(filesAtOnce)
      .execute();
    if (files.length === 0) return;
    await db.transaction().execute((trx) => deleteFiles(trx, files));
  }
}

async function removeBefore(
  db: Database,
  organizationId: string,
  { part_id = [], component_type, component_name }: PathRule,
  beforeDay: string,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (let at = 0; at < part_id.length; ) {
    signal.throwIfAborted();
    let query = db
      .selectFrom('binary_data')
      .select(['id', 'blob_path'])
      .where('organization_id', '=', organizationId)
      .where('part_id', 'in', part_id.slice(at, at + partsAtOnce))
      .where('capture_day', '<', dayNumber(beforeDay))
      .limit(filesAtOnce);
    if (component_type !== undefined) query = query.where('component_type', 'in', component_type);
    if (component_name !== undefined) query = query.where('component_name', 'in', component_name);
    const files = await query.execute();
    if (files.length > 0) removed += await db.transaction().execute((trx) => deleteFiles(trx, files));
    if (files.length < filesAtOnce) at += partsAtOnce;
  }
  return removed;
}

async function sizesOf(
  db: Database,
  organizationId: string,
  { part_id = [], component_type = [], component_name = [] }: PathRule,
  keptFrom: string,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('binary_data')
    .select(['capture_day', sql<number>`cast(sum(size_bytes) as bigint)`.as('bytes')])
    .where('organization_id', '=', organizationId)
    .where('part_id', 'in', part_id)
    .where('component_type', 'in', component_type)
    .where('component_name', 'in', component_name)
    .groupBy('capture_day')
    .execute();
  return new Map(
    rows.map((row) => [dayText(row.capture_day), Number(row.bytes)] as const).filter(([day]) => day >= keptFrom),
  );
}

function dayNumber(day: string): number {
  return Math.floor(Date.parse(`${day}T00:00:00Z`) / dayMs);
}

function dayText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

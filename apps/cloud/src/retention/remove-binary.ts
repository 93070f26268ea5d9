/** Deletes binary data whose retention has ended, or that exceeds the size limit of its resource (D24). */
import type { DataPolicies } from '@platform/machine-config/data-policies';
import { audit } from '../access/audit.ts';
import { bytesByCaptureDay, removeFiles } from '../binary/change/remove-files.ts';
import { retentionDays } from '../binary/store.ts';
import { requireIntactSet } from '../metadata/row-checks/require-complete.ts';
import type { Database } from '../metadata/tables.ts';
import { cutoffDay } from './cutoff-day.ts';
import { systemActor } from './system-actor.ts';

const dayMs = 86_400_000;

/** @returns how many files were deleted. @throws data_loss when something else changed how long they are kept */
export async function removeBinary(
  db: Database,
  organizationId: string,
  parts: ReadonlyMap<string, DataPolicies>,
  nowMs: number,
  signal: AbortSignal,
): Promise<number> {
  await requireIntactSet(db, retentionDays, organizationId);
  let removed = await removeFiles(db, { organizationId, expiredMs: nowMs }, signal);
  const today = dayText(Math.floor(nowMs / dayMs));
  for (const [partId, policies] of parts) {
    for (const resource of policies.resources) {
      if (resource.binaryLimitGb === undefined) continue;
      const ofResource = { organizationId, partId, component: { type: resource.api, name: resource.name } };
      const sizes = await bytesByCaptureDay(db, ofResource);
      const byDay = new Map([...sizes].map(([day, bytes]) => [dayText(day), bytes]));
      const beforeDay = cutoffDay(byDay, resource.binaryLimitGb, today);
      if (beforeDay === undefined) continue;
      removed += await removeFiles(db, { ...ofResource, beforeDay: dayNumber(beforeDay) }, signal);
    }
  }
  if (removed > 0) {
    const detail = { files: removed };
    const target = ['organization', organizationId, organizationId] as const;
    await audit(db, systemActor, nowMs, 'platform.retention.binary', target, detail);
  }
  return removed;
}

function dayNumber(day: string): number {
  return Math.floor(Date.parse(`${day}T00:00:00Z`) / dayMs);
}

function dayText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

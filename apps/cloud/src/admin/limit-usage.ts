/** Limits with what is used of them, where that is counted. */
import type { Database } from '../metadata/tables.ts';
import type { Limit } from './limits.ts';

export interface UsedLimit extends Limit {
  /** In the unit of the limit; null: not counted. */
  readonly used: number | null;
}

/** @param nowMs of the month whose scanned bytes are meant (D26). */
export async function limitUsage(
  db: Database,
  organizationId: string,
  limits: readonly Limit[],
  nowMs: number,
): Promise<UsedLimit[]> {
  const row = await db
    .selectFrom('tabular_usage')
    .select('scanned_bytes')
    .where('organization_id', '=', organizationId)
    .where('month', '=', new Date(nowMs).toISOString().slice(0, 7))
    .executeTakeFirst();
  return limits.map((limit) => ({
    ...limit,
    used: limit.name === 'query-bytes-per-month' ? (row?.scanned_bytes ?? 0) : null,
  }));
}

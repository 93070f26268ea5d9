/** Limits with their current usage, where it is counted. */
import type { Database } from '../metadata/tables.ts';
import { monthOf, scannedBytes } from '../tabular/query/scan-meter.ts';
import type { Limit } from './limits.ts';

export interface UsedLimit extends Limit {
  /** In the unit of the limit; null: not counted. */
  readonly used: number | null;
}

/** @param nowMs selects the month of the scanned bytes (D26). */
export async function limitUsage(
  db: Database,
  organizationId: string,
  limits: readonly Limit[],
  nowMs: number,
): Promise<UsedLimit[]> {
  const scanned = await scannedBytes(db, organizationId, monthOf(nowMs));
  return limits.map((limit) => ({
    ...limit,
    used: limit.name === 'query-bytes-per-month' ? scanned : null,
  }));
}

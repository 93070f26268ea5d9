/** Reads the meter. */
import type { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { readProvenHours } from '../../metadata/row-checks/read-proven-hours.ts';
import type { Database } from '../../metadata/tables.ts';
import type { Usage } from '../prices/rate.ts';
import { usageHours } from '../store.ts';
import type { HourlyUsage } from './count-uploads.ts';
import { nameOf, type UsageName } from './usage-types.ts';

/** Counts that another feature keeps itself, such as notifications. Half open: startMs ≤ hour < endMs. */
export interface CountedSource {
  readonly type: UsageCostType;
  readonly read: (
    startMs: number,
    endMs: number,
    organizationId: string,
  ) => Promise<readonly { readonly hour: number; readonly quantity: number }[]>;
}

export interface UsageReader {
  readonly db: Database;
  readonly counted: readonly CountedSource[];
}

/**
 * The stored hours of an organization. Half open: startMs ≤ hour < endMs.
 *
 * @throws data_loss when one was altered, or rows of its days are missing
 */
export async function hoursOf(
  db: Database,
  organizationId: string,
  startMs: number,
  endMs: number,
): Promise<HourlyUsage[]> {
  const rows = await readProvenHours(db, usageHours, organizationId, startMs, endMs);
  return rows.map(([, hour, type, quantity]) => ({
    organization_id: organizationId,
    hour: Number(hour),
    type: Number(type) as UsageCostType,
    quantity: Number(quantity),
  }));
}

/** By time, then by type. */
export async function readHours(
  { db, counted }: UsageReader,
  organizationId: string,
  startMs: number,
  endMs: number,
): Promise<readonly HourlyUsage[]> {
  const rows = await hoursOf(db, organizationId, startMs, endMs);
  const others = await Promise.all(
    counted.map(async ({ type, read }) =>
      (await read(startMs, endMs, organizationId)).map(({ hour, quantity }) => ({
        ...{ organization_id: organizationId, hour, type, quantity },
      })),
    ),
  );
  return [...rows, ...others.flat()].toSorted((a, b) => a.hour - b.hour || a.type - b.type);
}

/** The usage of an organization. Reading and comparing a month takes some 20 ms, in turns with everything else. */
export async function readTotals(
  { db, counted }: UsageReader,
  startMs: number,
  endMs: number,
  organizationId: string,
): Promise<Usage> {
  const rows = await hoursOf(db, organizationId, startMs, endMs);
  const totals = new Map<UsageName, bigint>();
  const add = (type: UsageCostType, quantity: bigint): void => {
    const name = nameOf(type);
    if (name !== undefined) totals.set(name, (totals.get(name) ?? 0n) + quantity);
  };
  for (const { type, quantity } of rows) add(type, BigInt(quantity));
  for (const { type, read } of counted)
    for (const { quantity } of await read(startMs, endMs, organizationId)) add(type, BigInt(quantity));
  return totals;
}

/** Reads the meter. */

import type { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import type { Database } from '../../metadata/tables.ts';
import type { Usage } from '../prices/rate.ts';
import type { HourlyUsage } from './count-uploads.ts';
import { nameOf, type UsageName } from './usage-types.ts';

/** What another feature counts itself, such as notifications. Half open: startMs ≤ hour < endMs. */
export interface CountedSource {
  readonly type: UsageCostType;
  /** Undefined: of all organizations. */
  readonly read: (
    startMs: number,
    endMs: number,
    organizationId?: string,
  ) => Promise<readonly { readonly organizationId: string; readonly hour: number; readonly quantity: number }[]>;
}

export interface UsageReader {
  readonly db: Database;
  readonly counted: readonly CountedSource[];
}

/** By time, then by type. */
export async function readHours(
  { db, counted }: UsageReader,
  organizationId: string,
  startMs: number,
  endMs: number,
): Promise<readonly HourlyUsage[]> {
  const rows = await db
    .selectFrom('usage_hours')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('hour', '>=', startMs)
    .where('hour', '<', endMs)
    .execute();
  const others = await Promise.all(
    counted.map(async ({ type, read }) =>
      (await read(startMs, endMs, organizationId)).map(({ hour, quantity }) => ({
        ...{ organization_id: organizationId, hour, type, quantity },
      })),
    ),
  );
  return [...rows, ...others.flat()].toSorted((a, b) => a.hour - b.hour || a.type - b.type);
}

/** Sums of each organization with usage, or of one. */
export async function readTotals(
  { db, counted }: UsageReader,
  startMs: number,
  endMs: number,
  organizationId?: string,
): Promise<ReadonlyMap<string, Usage>> {
  let query = db
    .selectFrom('usage_hours')
    .select(({ fn }) => ['organization_id', 'type', fn.sum<number | string>('quantity').as('quantity')])
    .where('hour', '>=', startMs)
    .where('hour', '<', endMs)
    .groupBy(['organization_id', 'type']);
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId);
  const totals = new Map<string, Map<UsageName, bigint>>();
  const add = (payer: string, type: UsageCostType, quantity: bigint): void => {
    const name = nameOf(type);
    if (name === undefined) return;
    const of = totals.get(payer) ?? new Map<UsageName, bigint>();
    totals.set(payer, of.set(name, (of.get(name) ?? 0n) + quantity));
  };
  for (const { organization_id, type, quantity } of await query.execute()) add(organization_id, type, BigInt(quantity));
  for (const { type, read } of counted)
    for (const { organizationId: payer, quantity } of await read(startMs, endMs, organizationId))
      add(payer, type, BigInt(quantity));
  return totals;
}

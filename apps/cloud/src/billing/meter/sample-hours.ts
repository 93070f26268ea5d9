/**
 * Counts stored data and machines once for each hour (UTC): at its beginning, or as soon as the cloud runs again after it. Nothing changes
 * while the cloud is down, so missed hours get the same quantities.
 */
import { type ClockAndLog, hourMs } from '@platform/base';
import type { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import type { Database } from '../../metadata/tables.ts';
import { hourOf } from '../month.ts';
import { addUsage } from './add-usage.ts';
import { UsageSums } from './count-uploads.ts';
import { type PayerOf, readPayers } from './payers.ts';

/** Stored quantities of one feature. */
export interface StoredSource {
  readonly type: UsageCostType;
  /** Current quantities: bytes, or machines. If a location is given, its payer is charged. */
  readonly read: () => Promise<readonly StoredQuantity[]>;
}

export interface StoredQuantity {
  readonly organizationId: string;
  readonly locationId?: string;
  readonly quantity: number;
}

export interface SampleHoursDeps extends ClockAndLog {
  readonly db: Database;
  readonly sources: readonly StoredSource[];
}

/** After a longer absence, or a jump of the clock, earlier hours are not counted. */
const maxMissedHours = 62 * 24;
const hoursPerTransaction = 24;

/** Counts the hours that have begun since the last call; true: there are more. */
export async function sampleHours({ db, sources, clock, log }: SampleHoursDeps): Promise<boolean> {
  const current = hourOf(clock.now());
  const row = await db.selectFrom('usage_samples').select('hour').where('id', '=', 1).executeTakeFirst();
  let from = row === undefined ? current : row.hour + hourMs;
  if (from > current) return false;
  if (current - from > maxMissedHours * hourMs) {
    log.warn('usage: hours that are too long ago are not counted', {
      from: new Date(from).toISOString(),
      to: new Date(current - maxMissedHours * hourMs).toISOString(),
    });
    from = current - maxMissedHours * hourMs;
  }
  const to = Math.min(current, from + (hoursPerTransaction - 1) * hourMs);
  const stored = await Promise.all(
    sources.map(async ({ type, read }) => (await read()).map((quantity) => ({ ...quantity, type }))),
  );
  const rows = hourlyRows(stored.flat(), await readPayers(db), from, to);
  await db.transaction().execute(async (trx) => {
    // Another process on the same database may have counted them.
    const now = await trx.selectFrom('usage_samples').select('hour').where('id', '=', 1).executeTakeFirst();
    if (now?.hour !== row?.hour) return;
    await trx
      .insertInto('usage_samples')
      .values({ id: 1, hour: to })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ hour: to }))
      .execute();
    await addUsage(trx, rows);
  });
  return to < current;
}

function hourlyRows(
  stored: readonly (StoredQuantity & { readonly type: UsageCostType })[],
  payerOf: PayerOf,
  from: number,
  to: number,
) {
  const sums = new UsageSums();
  for (let hour = from; hour <= to; hour += hourMs)
    for (const { organizationId, locationId, type, quantity } of stored)
      sums.add(
        locationId === undefined ? organizationId : payerOf(locationId, organizationId, hour),
        ...[hour, type, quantity],
      );
  return sums.rows();
}

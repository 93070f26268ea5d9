/** Who pays for the usage of a location: its organization, or another one named instead, from the next full hour. */
import { failedPrecondition, hourMs } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import type { Database } from '../../metadata/tables.ts';
import { hourOf } from '../month.ts';

/** @param organizationId of the location. @param ms time of the usage */
export type PayerOf = (locationId: string, organizationId: string, ms: number) => string;

/** Payers of these locations, for all times that have begun. */
export async function readPayers(db: Database, locationIds?: readonly string[]): Promise<PayerOf> {
  if (locationIds?.length === 0) return (_locationId, organizationId) => organizationId;
  let query = db.selectFrom('location_payers').selectAll().orderBy('since_ms').orderBy('created_ms');
  if (locationIds !== undefined) query = query.where('location_id', 'in', locationIds);
  const rows = await query.execute();
  const byLocation = Map.groupBy(rows, ({ location_id }) => location_id);
  return (locationId, organizationId, ms) =>
    byLocation.get(locationId)?.findLast(({ since_ms }) => since_ms <= ms)?.organization_id ?? organizationId;
}

/** The payer named last, effective from the next full hour at the latest; undefined: none was named. */
export async function namedPayer(db: Database, locationId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('location_payers')
    .select('organization_id')
    .where('location_id', '=', locationId)
    .orderBy('since_ms', 'desc')
    .orderBy('created_ms', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.organization_id;
}

/**
 * Uploads are counted by the hour in which they were accepted, so the payer of an hour that has begun must not change.
 *
 * @param mayPay the location's organization, and those with which it is shared
 * @throws failed_precondition for any other
 */
export async function namePayer(
  db: Database,
  by: Caller,
  nowMs: number,
  location: { readonly id: string; readonly organizationId: string; readonly mayPay: ReadonlySet<string> },
  payerId: string,
): Promise<void> {
  if (!location.mayPay.has(payerId))
    throw failedPrecondition(
      `billing_organization_id: expected the organization of location ${location.id} or one with which it is shared, found another one; share the location first`,
    );
  await db.transaction().execute(async (trx) => {
    const sinceMs = hourOf(nowMs) + hourMs;
    const row = { location_id: location.id, since_ms: sinceMs, organization_id: payerId, created_ms: nowMs };
    await trx
      .insertInto('location_payers')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['location_id', 'since_ms', 'created_ms']).doUpdateSet({ organization_id: payerId }),
      )
      .execute();
    const target = ['location', location.id, location.organizationId] as const;
    const detail = { payer: payerId, since: new Date(sinceMs).toISOString() };
    await audit(trx, by, nowMs, 'BillingService.UpdateLocationBillingOrganization', target, detail);
  });
}

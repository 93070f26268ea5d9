/** Adds to the meter, in the transaction of the usage that is counted. */
import { chunks } from '@platform/base';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { DatabaseTransaction } from '../../metadata/tables.ts';
import type { HourlyUsage } from './count-uploads.ts';

/** @param rows at most one per payer, hour and type */
export async function addUsage(trx: DatabaseTransaction, rows: readonly HourlyUsage[]): Promise<void> {
  for (const some of chunks(rows, rowsPerStatement))
    await trx
      .insertInto('usage_hours')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'hour', 'type']).doUpdateSet((eb) => ({
          quantity: eb('usage_hours.quantity', '+', eb.ref('excluded.quantity')),
        })),
      )
      .execute();
}

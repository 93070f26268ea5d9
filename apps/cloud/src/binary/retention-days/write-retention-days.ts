import { chunks } from '@platform/base';
import type { Insertable } from 'kysely';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { Database } from '../../metadata/tables.ts';
import type { BinaryTables } from '../store.ts';

/** Number of days for which the files of a part, or of one of its resources, are kept. */
export type RetentionDays = Insertable<BinaryTables['data_retention_days']>;

/** Replaces the rows of these parts, in the transaction that changes their configuration. @param partIds few enough for one statement */
export async function writeRetentionDays(
  trx: Database,
  partIds: readonly string[],
  days: readonly RetentionDays[],
): Promise<void> {
  if (partIds.length > 0) await trx.deleteFrom('data_retention_days').where('part_id', 'in', partIds).execute();
  for (const some of chunks(days, rowsPerStatement)) await trx.insertInto('data_retention_days').values(some).execute();
}

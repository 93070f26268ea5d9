import { chunks } from '@platform/base';
import type { InsertObject, InsertQueryBuilder, InsertResult } from 'kysely';
import { rowsPerStatement } from './rows-per-statement.ts';
import type { CloudTables } from './tables.ts';

/** Inserts those of the rows that are not in the table yet, however many they are. */
export async function insertMissing<T extends keyof CloudTables>(
  into: InsertQueryBuilder<CloudTables, T, InsertResult>,
  rows: readonly InsertObject<CloudTables, T>[],
): Promise<void> {
  for (const some of chunks(rows, rowsPerStatement))
    await into
      .values(some)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
}

/** Reads a whole table that is then kept in memory, and says which of its rows and sets are not as they were written (D33). */
import { getOrInsert } from '@platform/base';
import { type Kysely, sql } from 'kysely';
import { bucketOfRow, type CheckedTable, isRowRight, RowSum } from './checked-table.ts';
import { incompleteText } from './find-row-damage.ts';
import { alteredText } from './require-right.ts';

type Row = Readonly<Record<string, unknown>>;

export interface CheckedRows {
  readonly rows: readonly Row[];
  /** By the first column of the key: what is wrong. */
  readonly altered: ReadonlyMap<string, string>;
  /** By owner: what is wrong. */
  readonly incomplete: ReadonlyMap<string, string>;
}

/** @param table not divided by day @param also columns that the checksum does not cover */
export async function readChecked<T>(
  db: Kysely<T>,
  table: CheckedTable,
  also: readonly string[] = [],
): Promise<CheckedRows> {
  const names = [...table.columns, ...(table.bytes ?? []), ...also, 'row_check'];
  const [idColumn = ''] = table.key;
  const { rows } = await sql<Row>`
    select ${sql.join(names.map((name) => sql.ref(name)))} from ${sql.table(table.table)}
  `.execute(db);
  const proofs = await sql<Row>`select * from row_proofs where table_name = ${table.table}`.execute(db);
  const altered = new Map<string, string>();
  const sums = new Map<string, RowSum>(proofs.rows.map((proof) => [String(proof['owner']), new RowSum()]));
  for (const row of rows) {
    if (!isRowRight(table, row)) altered.set(String(row[idColumn]), alteredText(table, row));
    const { owner } = bucketOfRow(table, row);
    getOrInsert(sums, owner, () => new RowSum()).add(row['row_check']);
  }
  const proofOf = new Map(proofs.rows.map((proof) => [String(proof['owner']), proof]));
  const incomplete = new Map<string, string>();
  for (const [owner, sum] of sums) {
    const text = incompleteText(table, { owner, day: 0 }, sum, proofOf.get(owner));
    if (text !== undefined) incomplete.set(owner, text);
  }
  return { rows, altered, incomplete };
}

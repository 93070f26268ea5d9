/** Compares every row of the checked tables with its checksum, and every set of rows with its proof. */
import { getOrInsert } from '@platform/base';
import { type Bucket, type CheckedTable, hashOfText, RowSum, words } from './checked-table.ts';
import type { RowReader } from './open-row-reader.ts';
import { daySql, ownerSql, textSql } from './row-check-sql.ts';

export interface RowDamage extends Bucket {
  readonly table: string;
  readonly text: string;
}

export interface CheckedRows {
  readonly rows: number;
  readonly damages: readonly RowDamage[];
}

/** Damages found in one table; more are only counted in the sum of the bucket. */
const maxDamages = 1_000;

export async function findRowDamage(
  reader: Pick<RowReader, 'kind' | 'eachRow'>,
  tables: readonly CheckedTable[],
): Promise<CheckedRows> {
  const filled = new Map<string | null, string | null>();
  await reader.eachRow(
    'select table_name, definition from checked_tables where is_filled = 1',
    ([name, definition]) => {
      filled.set(name ?? null, definition ?? null);
    },
  );
  const damages: RowDamage[] = [];
  let rows = 0;
  // The next start computes those that a new version has defined otherwise, or has not finished.
  for (const table of tables)
    if (filled.get(table.table) === JSON.stringify(table)) rows += await checkTable(reader, table, damages);
  return { rows, damages };
}

/** Returns the number of its rows. */
async function checkTable(
  reader: Pick<RowReader, 'kind' | 'eachRow'>,
  table: CheckedTable,
  damages: RowDamage[],
): Promise<number> {
  const name = table.table;
  const key = table.key.map((column) => `coalesce(cast("${column}" as text), '-')`).join(` || ' ' || `);
  const proofs = new Map<string, Readonly<Record<string, unknown>>>();
  const sums = new Map<string, RowSum>();
  const wordColumns = words.map((word) => `word_${word}`);
  await reader.eachRow(
    `select owner, "day", "rows", ${wordColumns.join(', ')} from row_proofs where table_name = '${name}'`,
    ([owner, day, rows, ...sum]) => {
      const proof = Object.fromEntries(wordColumns.map((column, word) => [column, sum[word]]));
      proofs.set(bucketName(owner ?? '', Number(day)), { rows, ...proof });
    },
  );
  let [rows, altered] = [0, 0];
  await reader.eachRow(
    `select ${textSql(table, name, reader.kind)}, row_check, ${ownerSql(table, name)}, ${daySql(table, name)}, ${key} from ${name}`,
    ([text, check, owner, day, named]) => {
      rows++;
      const bucket = { owner: owner ?? '', day: Number(day) };
      const place = bucketName(bucket.owner, bucket.day);
      getOrInsert(sums, place, () => new RowSum()).add(check);
      if (check !== hashOfText(text ?? '') && altered++ < maxDamages)
        damages.push({
          table: name,
          ...bucket,
          text: `${table.what} ${named}: its row in ${name} was altered or added`,
        });
    },
  );
  for (const place of new Set([...proofs.keys(), ...sums.keys()])) {
    const sum = sums.get(place) ?? new RowSum();
    const [day = '0', owner = ''] = place.split(/ (.*)/s);
    const bucket = { owner, day: Number(day) };
    const text = incompleteText(table, bucket, sum, proofs.get(place));
    if (text !== undefined) damages.push({ table: name, ...bucket, text });
  }
  return rows;
}

function bucketName(owner: string, day: number): string {
  return `${day} ${owner}`;
}

/**
 * Says which rows of a set are missing, added or altered; undefined: none.
 *
 * @param proof its row of `row_proofs`; undefined: no rows are expected
 */
export function incompleteText(
  table: CheckedTable,
  { owner, day }: Bucket,
  sum: RowSum,
  proof: object | undefined,
): string | undefined {
  const proven = proof as Readonly<Record<string, unknown>> | undefined;
  if (sum.matches(proven)) return undefined;
  const expected = Number(proven?.['rows'] ?? 0);
  const of = owner === '' ? '' : ` of ${owner}`;
  const on = table.time === undefined ? '' : ` on ${new Date(day * 86_400_000).toISOString().slice(0, 10)}`;
  const counts = sum.rows === expected ? 'rows that differ from those that were written' : `${sum.rows}`;
  return `${table.table}${of}${on}: expected ${expected} rows, found ${counts}`;
}

/**
 * Reads sets of rows as a whole (D33): each row is compared with its checksum and each set with its proof, all from one statement.
 *
 * The database passes the rows of a set as one text. Reading each value, building the text of each row from them, and reading the checksums
 * again for the proof would cost three times as much.
 */
import { runInTurns, type Steps } from '@platform/base';
import { type Kysely, sql } from 'kysely';
import { type CheckedTable, hashOfText, RowSum, separator, words } from './checked-table.ts';
import { coveredText, namedValues } from './covered-text.ts';
import { incompleteText } from './find-row-damage.ts';
import { type DayRange, isInSets, isProofOf } from './require-complete.ts';
import { alteredRows, alteredText } from './require-right.ts';
import { daySql } from './row-check-sql.ts';

interface StoredSet {
  readonly kind: 'proof' | 'rows';
  readonly day: number;
  readonly rows: number;
  /** Of each row, its checksum and its values; of a proof: null. */
  readonly texts: string | null;
}

/**
 * @param table without bytes
 * @returns the values of each row, in the order of its columns, as text
 * @throws data_loss that names the first wrong row, or the set
 */
export async function readProvenSets<T>(
  db: Kysely<T>,
  table: CheckedTable,
  owner: string,
  days: DayRange = {},
): Promise<readonly (readonly string[])[]> {
  const name = table.table;
  const rowText = sql`concat(coalesce(row_check, ''), ${sql.lit(separator)}, ${coveredText(table)})`;
  const nulls = sql.raw(words.map((word) => `cast(null as bigint) as word_${word}`).join(', '));
  const sums = sql.raw(words.map((word) => `word_${word}`).join(', '));
  const { rows } = await sql<StoredSet>`
    select 'rows' as kind, ${sql.raw(daySql(table, name))} as "day", count(*) as "rows", string_agg(${rowText}, '') as texts, ${nulls}
    from ${sql.table(name)} where ${isInSets(table, owner, days)} group by 2
    union all
    select 'proof' as kind, "day" as "day", "rows" as "rows", cast(null as text) as texts, ${sums} from row_proofs where ${isProofOf(table, owner, days)}
  `.execute(db);
  return runInTurns(comparing(table, owner, rows));
}

function* comparing(table: CheckedTable, owner: string, sets: readonly StoredSet[]): Steps<(readonly string[])[]> {
  const found: (readonly string[])[] = [];
  for (const [day, some] of Map.groupBy(sets, (set) => Number(set.day))) {
    const sum = new RowSum();
    for (const { kind, rows, texts } of some) {
      if (kind === 'proof') continue;
      sum.addAll(Number(rows), addRows(table, texts ?? '', found));
    }
    const proof = some.find(({ kind }) => kind === 'proof');
    const text = incompleteText(table, { owner, day }, sum, proof);
    if (text !== undefined) throw alteredRows({ text });
    yield;
  }
  return found;
}

/**
 * Adds the values of each row. Returns the checksums, without anything between them.
 *
 * @throws data_loss that names the first row that does not have its checksum
 */
function addRows(table: CheckedTable, texts: string, found: (readonly string[])[]): string {
  let checks = '';
  const fields = texts.split(separator);
  const width = 1 + table.columns.length;
  for (let index = 0, at = 0; index + width < fields.length; index += width) {
    const check = fields[index] ?? '';
    const row = fields.slice(index + 1, index + width);
    const from = at + check.length + 1;
    at = from;
    for (const value of row) at += value.length + 1;
    if (check !== hashOfText(texts.slice(from, at))) {
      throw alteredRows({ text: alteredText(table, namedValues(table, row)) });
    }
    checks += check;
    found.push(row);
  }
  return checks;
}

/**
 * The statements that keep checksums and proofs, in both stores. SQLite has the functions `row_hash(values…)` and `row_word(check, word)`
 * only on the connection that writes.
 */
import type { Schema } from '../sqlite/writer-protocol.ts';
import { absent, type CheckedTable, dayUs, separator, wordMask, words } from './checked-table.ts';

export type StoreKind = 'sqlite' | 'postgres';

/** An expression with the checksum of a row. @param row `new`, `old` or the table */
export function checkSql(table: CheckedTable, row: string, kind: StoreKind): string {
  if (kind === 'postgres') return `left(encode(sha256(convert_to(${textSql(table, row, kind)}, 'UTF8')), 'hex'), 32)`;
  return `row_hash(${[...table.columns, ...(table.bytes ?? [])].map((column) => `${row}."${column}"`).join(', ')})`;
}

/** An expression with the text that the checksum is computed from, without functions of the writing connection. */
export function textSql({ columns, bytes = [] }: CheckedTable, row: string, kind: StoreKind): string {
  const values = [
    ...columns.map((column) => `cast(${row}."${column}" as text)`),
    ...bytes.map((column) =>
      kind === 'sqlite'
        ? `case when ${row}."${column}" is not null then lower(hex(${row}."${column}")) end`
        : `encode(${row}."${column}", 'hex')`,
    ),
  ];
  const texts = values.map((value) => `coalesce(${value}, '${absent}')`);
  // Copies each value once, and not again for each value after it. A separator follows the last value, too.
  return `concat_ws('${separator}', ${texts.join(', ')}, '')`;
}

export function ownerSql({ owner }: CheckedTable, row: string): string {
  return owner === undefined ? `''` : `coalesce(${row}."${owner}", '')`;
}

export function daySql({ time, usPerTime = 1 }: CheckedTable, row: string): string {
  if (time === undefined) return '0';
  // Rounded down, also before 1970.
  const [at, day] = [`${row}."${time}"`, dayUs / usPerTime];
  return `(${at} - ((${at} % ${day}) + ${day}) % ${day}) / ${day}`;
}

/** Whether a change leaves a row (`old`, `new`) in its set. */
export function staysSql(table: CheckedTable): string {
  return `${ownerSql(table, 'new')} = ${ownerSql(table, 'old')} and ${daySql(table, 'new')} = ${daySql(table, 'old')}`;
}

const wordColumns = words.map((word) => `word_${word}`);
const proofColumns = ['table_name', 'owner', 'day', 'rows', ...wordColumns].map((column) => `"${column}"`).join(', ');

/** Adds rows to their proofs. @param from rows that have their checksums, by this name @param where absent: all of them */
export function addToProofsSql(
  table: CheckedTable,
  from: string,
  where = 'true',
  wordOf = (check: string, word: number): string => `row_word(${check}, ${word})`,
): string {
  const sums = words.map((word) => `cast(sum(${wordOf(`${from}.row_check`, word)}) as bigint)`);
  return `insert into row_proofs (${proofColumns}) select '${table.table}', ${ownerSql(table, from)}, ${daySql(table, from)}, count(*), ${sums.join(', ')} from ${from} where ${where} group by 2, 3 ${onConflict}`;
}

/** Adds to one proof. @param change of each word; all are expressions */
export function addRowSql(table: string, owner: string, day: string, rows: string, change: readonly string[]): string {
  return `insert into row_proofs (${proofColumns}) values (${[table, owner, day, rows, ...change].join(', ')}) ${onConflict}`;
}

const onConflict = `on conflict (table_name, owner, "day") do update set "rows" = row_proofs."rows" + excluded."rows", ${wordColumns
  .map((column) => `${column} = (row_proofs.${column} + excluded.${column}) & ${wordMask}`)
  .join(', ')}`;

/** @param removed rows by this name; one without a checksum was never counted */
export function removeFromProofsSql(table: CheckedTable, removed: string): readonly string[] {
  const [owner, day] = [ownerSql(table, removed), daySql(table, removed)];
  const sums = words.map((word) => `cast(sum(row_word(${removed}.row_check, ${word})) as bigint) as less_${word}`);
  const less = words.map((word) => `word_${word} = (word_${word} - less_${word}) & ${wordMask}`);
  return [
    `update row_proofs set "rows" = "rows" - less, ${less.join(', ')} from (select ${owner} as of_owner, ${day} as of_day, count(*) as less, ${sums.join(', ')} from ${removed} where ${removed}.row_check is not null group by 1, 2 ) as gone where table_name = '${table.table}' and owner = of_owner and "day" = of_day`,
    removeEmptySql(`table_name = '${table.table}' and (owner, "day") in (select ${owner}, ${day} from ${removed})`),
  ];
}

export function removeEmptySql(where: string): string {
  return `delete from row_proofs where ${where} and "rows" = 0 and ${wordColumns.map((column) => `${column} = 0`).join(' and ')}`;
}

export const rowChecksSchema: Schema = {
  statements: [
    `create table row_proofs (table_name text not null, owner text not null, day bigint not null, rows bigint not null, ${wordColumns.map((column) => `${column} bigint not null`).join(', ')}, primary key (table_name, owner, day))`,
    'create table checked_tables (table_name text primary key, definition text not null, filled_to text, is_filled bigint not null)',
  ],
};

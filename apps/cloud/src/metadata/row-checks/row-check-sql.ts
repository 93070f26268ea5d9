/**
 * The statements that keep checksums and proofs, in both stores. Both have the functions `row_check(text)` and `row_word(check, word)`; in
 * SQLite they exist only on the connection that writes.
 */
import { absent, type CheckedTable, dayUs, separator, wordMask, words } from './checked-table.ts';

export type StoreKind = 'sqlite' | 'postgres';

/** An expression with the checksum of a row. @param row `new`, `old` or the table */
export function checkSql(table: CheckedTable, row: string, kind: StoreKind): string {
  return `row_check(${textSql(table, row, kind)})`;
}

/** An expression with the text that the checksum is computed from. */
export function textSql({ columns, bytes = [] }: CheckedTable, row: string, kind: StoreKind): string {
  const values = [
    ...columns.map((column) => `cast(${row}."${column}" as text)`),
    ...bytes.map((column) =>
      kind === 'sqlite' ? `lower(hex(${row}."${column}"))` : `encode(${row}."${column}", 'hex')`,
    ),
  ];
  const texts = values.map((value) => `coalesce(${value}, '${absent}') || '${separator}'`);
  return texts.join(' || ');
}

export function ownerSql({ owner }: CheckedTable, row: string): string {
  return owner === undefined ? `''` : `coalesce(${row}."${owner}", '')`;
}

export function daySql({ time }: CheckedTable, row: string): string {
  if (time === undefined) return '0';
  // Rounded down, also before 1970.
  const us = `${row}."${time}"`;
  return `(${us} - ((${us} % ${dayUs}) + ${dayUs}) % ${dayUs}) / ${dayUs}`;
}

const wordColumns = words.map((word) => `word_${word}`);
const proofColumns = ['table_name', 'owner', 'day', 'rows', ...wordColumns].map((column) => `"${column}"`).join(', ');

/** Adds rows to their proofs. @param from rows that have their checksums: a table with a condition */
export function addToProofsSql(table: CheckedTable, from: string): string {
  const name = table.table;
  const sums = words.map((word) => `cast(sum(row_word(${name}.row_check, ${word})) as bigint)`);
  return `insert into row_proofs (${proofColumns}) select '${name}', ${ownerSql(table, name)}, ${daySql(table, name)}, count(*), ${sums.join(', ')} from ${from} group by 2, 3 ${onConflict}`;
}

/** For the trigger of one row. @param check expression with its checksum */
export function addRowSql(table: CheckedTable, check: string): string {
  const each = words.map((word) => `row_word(${check}, ${word})`);
  return `insert into row_proofs (${proofColumns}) values ('${table.table}', ${ownerSql(table, 'new')}, ${daySql(table, 'new')}, 1, ${each.join(', ')}) ${onConflict}`;
}

const onConflict = `on conflict (table_name, owner, "day") do update set "rows" = row_proofs."rows" + excluded."rows", ${wordColumns
  .map((column) => `${column} = (row_proofs.${column} + excluded.${column}) & ${wordMask}`)
  .join(', ')}`;

/** For the trigger of one row: a row without a checksum was never counted. */
export function removeRowSql(table: CheckedTable): readonly string[] {
  const where = `table_name = '${table.table}' and owner = ${ownerSql(table, 'old')} and "day" = ${daySql(table, 'old')}`;
  const less = words.map((word) => `word_${word} = (word_${word} - row_word(old.row_check, ${word})) & ${wordMask}`);
  return [
    `update row_proofs set "rows" = "rows" - 1, ${less.join(', ')} where ${where} and old.row_check is not null`,
    `delete from row_proofs where ${where} and "rows" = 0 and ${wordColumns.map((column) => `${column} = 0`).join(' and ')}`,
  ];
}

export const rowChecksDdl: readonly string[] = [
  `create table row_proofs (table_name text not null, owner text not null, day bigint not null, rows bigint not null, ${wordColumns.map((column) => `${column} bigint not null`).join(', ')}, primary key (table_name, owner, day))`,
  'create table checked_tables (table_name text primary key, definition text not null, filled_to text, is_filled bigint not null)',
];

/** Statements for the version of the tables in which a table gets checksums. */
export function addRowCheck({ table }: CheckedTable): string {
  return `alter table ${table} add column row_check text`;
}

/**
 * Keeps checksums and proofs in SQLite, by temporary triggers: they exist only on the connection that creates them, so a change by any other
 * program leaves the checksum and the proof as they were, and is noticed.
 *
 * Every opening of a store creates them, so they are short: those of the tables insert into the view `row_changes`, whose own trigger
 * changes the proofs.
 */
import type { DatabaseSync } from 'node:sqlite';
import { type CheckedTable, hashOfText, textOfValues, wordMask, wordOf, words } from './checked-table.ts';
import { addRowSql, daySql, ownerSql, removeEmptySql, staysSql } from './row-check-sql.ts';

/** @param db the only connection that writes */
export function watchSqliteRows(db: DatabaseSync, tables: readonly CheckedTable[]): void {
  if (tables.length === 0) return;
  // For the triggers, and for rows that get their checksums later (fill-row-checks.ts).
  db.function('row_hash', { deterministic: true, varargs: true, useBigIntArguments: true }, (...values) =>
    hashOfText(textOfValues(values)),
  );
  db.function('row_word', { deterministic: true }, (check, word) => wordOf(check, Number(word)));
  db.exec(proofsTriggersSql);
  db.exec(tables.map(triggersOf).join(';'));
}

const changed = words.map((word) => `(new.rows * row_word(new.row_check, ${word})) & ${wordMask}`);
const replaced = words.map(
  (word) =>
    `word_${word} = (word_${word} + row_word(new.row_check, ${word}) - row_word(new.old_check, ${word})) & ${wordMask}`,
);
const isNewSet = 'table_name = new.table_name and owner = new.owner and day = new.day';
const proofsTriggersSql = `
  create temp view row_changes as select '' as table_name, '' as owner, 0 as day, 0 as rows, '' as row_check;
  create temp trigger row_changes_insert instead of insert on row_changes begin
    ${addRowSql('new.table_name', 'new.owner', 'new.day', 'new.rows', changed)};
    ${removeEmptySql(`${isNewSet} and new.rows < 0`)};
  end;
  create temp view row_replacements as select '' as table_name, '' as owner, 0 as day, '' as old_check, '' as row_check;
  create temp trigger row_replacements_insert instead of insert on row_replacements begin
    update row_proofs set ${replaced.join(', ')} where ${isNewSet};
  end`;

function triggersOf(table: CheckedTable): string {
  const { table: name, columns, bytes = [], key, isInKeyOrder } = table;
  const covered = [...columns, ...bytes].map((column) => `"${column}"`);
  const checkOf = (row: string): string => `row_hash(${covered.map((column) => `${row}.${column}`).join(', ')})`;
  const isRow = isInKeyOrder ? key.map((column) => `"${column}" = new."${column}"`).join(' and ') : 'rowid = new.rowid';
  const set = (row: string): string => `'${name}', ${ownerSql(table, row)}, ${daySql(table, row)}`;
  const change = (row: string, rows: number): string => `${set(row)}, ${rows}`;
  const check = `update ${name} set row_check = ${checkOf('new')} where ${isRow}`;
  const add = `insert into row_changes select ${change('new', 1)}, row_check from ${name} where ${isRow}`;
  // A row without a checksum was never counted.
  const remove = `insert into row_changes select ${change('old', -1)}, old.row_check where old.row_check is not null`;
  const trigger = (on: string, statements: readonly string[]): string =>
    `create temp trigger row_check_${name}_${on.slice(0, 6)} after ${on} begin ${statements.join('; ')}; end`;
  return [
    trigger(`insert on main.${name}`, [check, add]),
    // A damaged row keeps its wrong checksum: a change must not hide the damage.
    trigger(`update of ${covered.join(', ')} on main.${name} when old.row_check = ${checkOf('old')}`, [
      check,
      // Most changes stay in the set, whose proof then changes once.
      `insert into row_replacements select ${set('new')}, old.row_check, row_check from ${name} where ${isRow} and ${staysSql(table)}`,
      ...(table.owner === undefined && table.time === undefined
        ? []
        : [`${remove} and not (${staysSql(table)})`, `${add} and not (${staysSql(table)})`]),
    ]),
    trigger(`delete on main.${name}`, [remove]),
  ].join(';');
}

/**
 * Keeps checksums and proofs in SQLite, by temporary triggers: they exist only on the connection that creates them, so a change by any other
 * program leaves the checksum and the proof as they were, and is noticed.
 */
import type { DatabaseSync } from 'node:sqlite';
import { type CheckedTable, hashOfText, wordOf } from './checked-table.ts';
import { addRowSql, checkSql, removeRowSql } from './row-check-sql.ts';

/** @param db the only connection that writes */
export function watchSqliteRows(db: DatabaseSync, tables: readonly CheckedTable[]): void {
  if (tables.length === 0) return;
  db.function('row_check', { deterministic: true }, (text) => hashOfText(String(text)));
  db.function('row_word', { deterministic: true }, (check, word) => wordOf(check, Number(word)));
  for (const table of tables) for (const trigger of triggersOf(table)) db.exec(trigger);
}

function triggersOf(table: CheckedTable): readonly string[] {
  const name = table.table;
  const covered = [...table.columns, ...(table.bytes ?? [])].map((column) => `"${column}"`).join(', ');
  const check = `update ${name} set row_check = ${checkSql(table, 'new', 'sqlite')} where rowid = new.rowid`;
  const stored = `(select row_check from ${name} where rowid = new.rowid)`;
  const trigger = (on: string, statements: readonly string[]): string =>
    `create temp trigger row_check_${name}_${on.slice(0, 6)} after ${on} begin ${statements.join('; ')}; end`;
  return [
    trigger(`insert on main.${name}`, [check, addRowSql(table, stored)]),
    // A damaged row keeps its wrong checksum: a change must not hide the damage.
    trigger(`update of ${covered} on main.${name} when old.row_check = ${checkSql(table, 'old', 'sqlite')}`, [
      ...removeRowSql(table),
      check,
      addRowSql(table, stored),
    ]),
    trigger(`delete on main.${name}`, removeRowSql(table)),
  ];
}

/**
 * Rows as the text that their checksum is computed from. Reading one text costs half of reading each value, and the text is hashed as it is.
 * For tables without bytes.
 */
import { type RawBuilder, sql } from 'kysely';
import { type CheckedTable, hashOfText, separator } from './checked-table.ts';
import { textSql } from './row-check-sql.ts';

export interface CoveredRow {
  readonly covered: string;
  readonly row_check: string | null;
}

/** The same in both stores. */
export function coveredText(table: CheckedTable): RawBuilder<string> {
  return sql.raw(textSql(table, table.table, 'sqlite'));
}

export function isCoveredRight({ covered, row_check }: CoveredRow): boolean {
  return hashOfText(covered) === row_check;
}

/** The values in the order of the columns; undefined: one of them contains the separator. */
export function valuesOf({ columns }: CheckedTable, covered: string): readonly string[] | undefined {
  const values = covered.split(separator);
  // A separator follows the last one.
  return values.length === columns.length + 1 ? values : undefined;
}

/** To name the row. */
export function namedValues({ columns }: CheckedTable, values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(columns.map((column, index) => [column, values[index] ?? '']));
}

/** Rows that were found right: one that is read again with the same values is still right. Comparing values costs a quarter of a hash. */
import { getOrInsert } from '@platform/base';
import type { CheckedTable } from './checked-table.ts';
import type { RowDamage } from './find-row-damage.ts';
import { firstWrong } from './require-right.ts';

/** Remembered rows of a table. */
const maxRight = 2_000;

type Row = Readonly<Record<string, unknown>>;

export class RightRows {
  /** By table and key. */
  readonly #known = new Map<CheckedTable, Map<unknown, Row>>();

  /** Undefined: all are as they were written. */
  firstWrong(table: CheckedTable, rows: readonly Row[]): RowDamage | undefined {
    const known = this.#known.get(table);
    const others = known === undefined ? rows : rows.filter((row) => !isSame(table, row, known.get(keyOf(table, row))));
    const wrong = firstWrong(table, others);
    if (wrong === undefined) this.#add(table, others);
    return wrong;
  }

  #add(table: CheckedTable, rows: readonly Row[]): void {
    if (table.key.length !== 1) return;
    const known = getOrInsert(this.#known, table, () => new Map<unknown, Row>());
    if (known.size + rows.length > maxRight) known.clear();
    for (const row of rows.slice(0, maxRight)) known.set(keyOf(table, row), row);
  }
}

function keyOf({ key: [column = ''] }: CheckedTable, row: Row): unknown {
  return row[column];
}

function isSame({ columns, bytes }: CheckedTable, row: Row, known: Row | undefined): boolean {
  if (known === undefined || bytes !== undefined || row['row_check'] !== known['row_check']) return false;
  for (const column of columns) if (row[column] !== known[column]) return false;
  return true;
}

/** Refuses rows that something other than the cloud altered or added (D33). */
import { dataLoss, type PlatformError } from '@platform/base';
import { bucketOfRow, type CheckedTable, isRowRight, nameOfRow } from './checked-table.ts';
import type { RowDamage } from './find-row-damage.ts';

/** @param rows with all columns of the table. @throws data_loss that names the first wrong one */
export function requireRight(table: CheckedTable, rows: readonly object[]): void {
  const damage = firstWrong(table, rows);
  if (damage !== undefined) throw alteredRows(damage);
}

/** Undefined: all are as they were written. */
export function firstWrong(table: CheckedTable, rows: readonly object[]): RowDamage | undefined {
  for (const row of rows as readonly Readonly<Record<string, unknown>>[])
    if (!isRowRight(table, row))
      return {
        table: table.table,
        ...bucketOfRow(table, row),
        text: alteredText(table, row),
      };
  return undefined;
}

export function alteredText(table: CheckedTable, row: Readonly<Record<string, unknown>>): string {
  return `${nameOfRow(table, row)}: its row in ${table.table} was altered or added`;
}

export function alteredRows({ text }: Pick<RowDamage, 'text'>): PlatformError {
  return dataLoss(
    `stored rows were altered (${text}): no partial answers are given. The host administrator can find all damage with platform admin doctor --deep`,
  );
}

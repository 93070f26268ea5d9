import type { Migration } from '../sqlite/writer-protocol.ts';
import type { CheckedTable } from './checked-table.ts';

/** The tables whose rows carry checksums in the newest of these versions. */
export function checkedTablesOf(migrations: readonly Migration[]): readonly CheckedTable[] {
  const tables = migrations.flatMap(({ checked = [] }) => checked);
  return [...new Map(tables.map((table) => [table.table, table])).values()];
}

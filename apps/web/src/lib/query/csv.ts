/** Rows as CSV. */
import { csvText } from '../ui/csv.ts';
import { cellText } from './flatten.ts';
import type { Row } from './pipeline.ts';

/** @param rows with dotted columns */
export function csvOf(rows: readonly Row[], columns: readonly string[]): string {
  // Numbers with all digits, unlike in a table.
  const cellOf = (value: unknown): string => (typeof value === 'number' ? String(value) : cellText(value));
  return csvText([columns, ...rows.map((row) => columns.map((name) => cellOf(row[name])))]);
}

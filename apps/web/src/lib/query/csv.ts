/** Rows as CSV (RFC 4180), for spreadsheets. */
import { cellText } from './flatten.ts';
import type { Row } from './pipeline.ts';

/** @param rows with dotted columns */
export function csvOf(rows: readonly Row[], columns: readonly string[]): string {
  const lines = rows.map((row) => columns.map((name) => cellOf(row[name])).join(','));
  return `${[columns.map(cellOf).join(','), ...lines].join('\r\n')}\r\n`;
}

function cellOf(value: unknown): string {
  // With all digits, unlike in a table.
  const text = typeof value === 'number' ? String(value) : cellText(value);
  // Spreadsheets execute text that begins like a formula, and a machine may have written anything.
  const plain = typeof value !== 'number' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** A table for a terminal: aligned columns, a header, no lines. */
import { styleText } from 'node:util';
import { printable } from './printable.ts';

/** @param rows values already as text. Newlines become spaces, so that a row is a line. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[], colours: boolean): string {
  const cells = rows.map((row) => row.map((cell) => printable(cell).replaceAll(/\s+/g, ' ')));
  const heads = columns.map((column) => column.replaceAll('_', ' ').toUpperCase());
  const widths = heads.map((head, at) => Math.max(head.length, ...cells.map((row) => [...(row[at] ?? '')].length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell + ' '.repeat((widths[at] ?? 0) - [...cell].length)))
      .join('  ')
      .trimEnd();
  const head = line(heads);
  return [colours ? styleText('bold', head) : head, ...cells.map(line)].join('\n');
}

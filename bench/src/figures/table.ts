/** Lines of cells in columns. @param numbers the columns that are aligned on the right */
export function table(
  head: readonly string[],
  cells: readonly (readonly string[])[],
  numbers: readonly number[],
): string {
  const widths = head.map((title, at) => Math.max(title.length, ...cells.map((row) => row[at]!.length)));
  const padded = (cell: string, at: number): string =>
    numbers.includes(at) ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!);
  return [head, ...cells].map((row) => row.map(padded).join('  ').trimEnd()).join('\n');
}

/** Three digits of a number; empty if there is none. */
export function short(value: number | undefined): string {
  if (value === undefined) return '';
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** Formats rows of any structure as a table that fits the terminal. */
import { Scalar } from '@platform/sdk/cloud';
import { localTime } from '../invocation/local-time.ts';
import { type Cell, cut, leastWidth, oneLine, type TableStyle, table, widthOf } from '../invocation/table.ts';

export interface RowsTable {
  readonly text: string;
  /** Columns that did not fit. */
  readonly hidden: readonly string[];
}

export type FlatRow = ReadonlyMap<string, string | Scalar>;

/** Further columns are not shown: each row may have columns of its own. */
const maxColumns = 200;
const gapWidth = 2;
const missing = '-';

interface Column {
  readonly name: string;
  readonly cells: readonly Cell[];
}

/**
 * If the columns do not fit, those with the same value in all rows are listed once, above the table, and rightmost columns are left
 * out. A single row that does not fit is printed with one line per field.
 */
export function rowsTable(rows: readonly FlatRow[], style: TableStyle): RowsTable {
  const { width } = style;
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const columns = names
    .slice(0, maxColumns)
    .map((name) => ({ name, cells: rows.map((row) => cellOf(row.get(name), width)) }));
  const beyond = names.slice(maxColumns);
  if (width === undefined || fits(columns, width)) return { text: drawn(columns, style), hidden: beyond };
  if (rows.length === 1) return { text: fieldLines(columns, width), hidden: beyond };

  const same = columns.filter(({ cells }) => cells.every((cell) => textOf(cell) === textOf(cells[0] ?? '')));
  const differing = columns.filter((column) => !same.includes(column));
  if (differing.length === 0) return { text: fieldLines(columns, width), hidden: beyond };
  let shown = differing.length;
  while (shown > 1 && !fits(differing.slice(0, shown), width)) shown--;
  const head = same.length === 0 ? '' : `In all rows:\n${fieldLines(same, width)}\n\n`;
  return {
    text: head + drawn(differing.slice(0, shown), style),
    hidden: [...differing.slice(shown).map(({ name }) => name), ...beyond],
  };
}

function cellOf(value: string | Scalar | undefined, width: number | undefined): Cell {
  if (value === undefined) return missing;
  const stored = typeof value === 'string' ? value : value.text;
  const text = width === undefined ? stored : localTime(stored);
  // More than can ever fit: the rest is not measured, because it is truncated anyway.
  const start = width === undefined || text.length <= width * 4 ? text : text.slice(0, width * 4);
  return value instanceof Scalar && value.isNumber ? { digits: start } : start;
}

function textOf(cell: Cell): string {
  return typeof cell === 'object' ? cell.digits : String(cell);
}

function fits(columns: readonly Column[], width: number): boolean {
  const least = columns.reduce((total, { name, cells }) => total + leastWidth(name, cells), 0);
  return least + gapWidth * (columns.length - 1) <= width;
}

function drawn(columns: readonly Column[], style: TableStyle): string {
  const height = columns[0]?.cells.length ?? 0;
  return table(
    columns.map(({ name }) => name),
    Array.from({ length: height }, (_, row) => columns.map(({ cells }) => cells[row] ?? missing)),
    { ...style, exactHeads: true },
  );
}

/** The first row, one line per field. */
function fieldLines(columns: readonly Column[], width: number): string {
  const names = columns.map(({ name }) => cut(oneLine(name), Math.floor(width / 2)));
  const longest = names.reduce((most, name) => Math.max(most, widthOf(name)), 0);
  return columns
    .map(({ cells }, at) => {
      const name = names[at] ?? '';
      const head = name + ' '.repeat(longest - widthOf(name) + gapWidth);
      return head + cut(oneLine(textOf(cells[0] ?? missing)), width - longest - gapWidth);
    })
    .join('\n');
}

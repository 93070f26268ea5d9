/** Formats rows of any structure as a table that fits the terminal. */
import { Scalar } from '@platform/sdk/cloud';
import { localTime } from '../results/local-time.ts';
import { type Cell, fieldLines, leastWidth, type TableStyle, table } from '../results/table.ts';

export interface RowsTable {
  readonly text: string;
  /** Columns that are too many to show. */
  readonly hidden: readonly string[];
}

export type FlatRow = ReadonlyMap<string, string | Scalar>;

/** Further columns are not shown: each row may have different columns. */
const maxColumns = 200;
const gapWidth = 2;
const missing = '-';

interface Column {
  readonly name: string;
  readonly cells: readonly Cell[];
}

/**
 * If the columns do not fit, those with the same value in all rows are listed once, above the table. If the others do not fit either,
 * each row is printed with one line per field.
 */
export function rowsTable(rows: readonly FlatRow[], style: TableStyle): RowsTable {
  const { width } = style;
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const columns = names
    .slice(0, maxColumns)
    .map((name) => ({ name, cells: rows.map((row) => cellOf(row.get(name), width)) }));
  const hidden = names.slice(maxColumns);
  if (width === undefined || fits(columns, width)) return { text: drawn(columns, style), hidden };
  const same = rows.length === 1 ? [] : columns.filter(({ cells }) => cells.every((cell) => isEqual(cell, cells[0])));
  const differing = columns.filter((column) => !same.includes(column));
  const shared = same.length === 0 ? '' : `In all rows:\n${firstRow(same, width)}`;
  const table = differing.length === 0 ? '' : drawn(differing, style);
  return { text: [shared, table].filter((text) => text !== '').join('\n\n'), hidden };
}

function cellOf(value: string | Scalar | undefined, width: number | undefined): Cell {
  if (value === undefined) return missing;
  const stored = typeof value === 'string' ? value : value.text;
  const text = width === undefined ? stored : localTime(stored);
  return value instanceof Scalar && value.isNumber ? { digits: text } : text;
}

function isEqual(a: Cell, b: Cell | undefined): boolean {
  return (typeof a === 'object' ? a.digits : a) === (typeof b === 'object' ? b.digits : b);
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

function firstRow(columns: readonly Column[], width: number): string {
  return fieldLines(
    columns.map(({ name }) => name),
    columns.map(({ cells }) => cells[0] ?? missing),
    width,
  );
}

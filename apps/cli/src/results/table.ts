/**
 * A table for a terminal: aligned columns, a header, no lines. Where it is too wide, long texts continue on the next line, but ids and
 * numbers stay whole, and times are broken between day and hour only; if it still does not fit, each row has one line for each column.
 */
import { styleText } from 'node:util';
import { printable } from '@platform/sdk/cloud';
import { widthOf, wrapped } from './text-width.ts';

export interface TableStyle {
  readonly colours: boolean;
  /** Columns of the terminal; absent: each row is one line. */
  readonly width?: number | undefined;
  /** Heads are the exact names of the columns. Default: words in capitals. */
  readonly exactHeads?: boolean;
}

/** Text, a number (right-aligned), or the digits of a number. */
export type Cell = string | number | { readonly digits: string };

interface Column {
  readonly head: string;
  readonly cells: readonly string[];
  readonly toTheRight: boolean;
  /** The words are never broken: ids, times and numbers are copied and compared. */
  readonly isWhole: boolean;
}

const gap = '  ';
const narrowest = 12;

/** Line ends in cells become spaces. */
export function table(
  names: readonly string[],
  rows: readonly (readonly Cell[])[],
  { colours, width, exactHeads = false }: TableStyle,
): string {
  const columns = names.map((name, at) =>
    columnOf(
      exactHeads ? oneLine(name) : name.replaceAll('_', ' ').toUpperCase(),
      rows.map((row) => row[at] ?? ''),
      isIdName(name),
    ),
  );
  const widths = fitted(columns, width);
  if (widths === undefined) return rows.map((row) => fieldLines(names, row, width ?? 0)).join('\n\n');
  const line = (cellOf: (column: Column) => string): string =>
    rowLines(
      columns.map((column, at) => ({ text: cellOf(column), width: widths[at] ?? 0, toTheRight: column.toTheRight })),
    );
  const head = line((column) => column.head);
  return [
    colours ? styleText('bold', head, { validateStream: false }) : head,
    ...rows.map((_, at) => line(({ cells }) => cells[at] ?? '')),
  ].join('\n');
}

/** One row with one line, or several, for each of its columns. */
export function fieldLines(names: readonly string[], row: readonly Cell[], width: number): string {
  const shown = names.map(oneLine);
  const longest = shown.reduce((most, name) => Math.max(most, widthOf(name)), 0);
  const nameWidth = Math.min(longest, Math.max(1, Math.floor(width / 2) - gap.length));
  return shown
    .map((name, at) =>
      rowLines([
        { text: name, width: nameWidth },
        { text: textOf(row[at] ?? ''), width: Math.max(1, width - nameWidth - gap.length) },
      ]),
    )
    .join('\n');
}

/** The minimum width of a column with this exact head. */
export function leastWidth(name: string, cells: readonly Cell[]): number {
  return leastOf(columnOf(oneLine(name), cells, isIdName(name)));
}

function isIdName(name: string): boolean {
  return /(^|_)id$/.test(name);
}

function columnOf(head: string, values: readonly Cell[], isId: boolean): Column {
  const cells = values.map(textOf);
  const toTheRight =
    values.some((value) => typeof value !== 'string') &&
    values.every((value) => typeof value !== 'string' || value === '-');
  const isWhole = isId || toTheRight || cells.some((cell) => /^\d{4}-\d{2}-\d{2}[T ]\d/.test(cell));
  return { head, cells, toTheRight, isWhole };
}

function textOf(value: Cell): string {
  return typeof value === 'object' ? value.digits : oneLine(String(value));
}

/** Safe to print, without line ends. */
export function oneLine(text: string): string {
  return printable(text).replaceAll(/\s+/g, ' ');
}

function longestWord({ cells }: Column): number {
  return naturalWidth({ cells: cells.flatMap((cell) => cell.split(' ')) });
}

function naturalWidth({ cells }: Pick<Column, 'cells'>): number {
  return cells.reduce((most, cell) => Math.max(most, widthOf(cell)), 0);
}

/** Heads may be broken, even above whole values. */
function leastOf(column: Column): number {
  const { head, cells, isWhole } = column;
  const ofCells = isWhole ? longestWord(column) : Math.min(naturalWidth({ cells }), narrowest);
  return Math.max(Math.min(widthOf(head), narrowest), ofCells);
}

/** Column widths; the widest columns are narrowed until the table fits. @returns undefined if it cannot fit */
function fitted(columns: readonly Column[], room: number | undefined): number[] | undefined {
  const natural = columns.map(({ head, cells }) => Math.max(widthOf(head), naturalWidth({ cells })));
  if (room === undefined) return natural;
  const least = columns.map(leastOf);
  const free = room - gap.length * (columns.length - 1);
  if (sum(least) > free) return undefined;
  const widths = natural.map((width, at) => Math.min(width, Math.max(room, least[at] ?? 0)));
  for (let over = sum(widths) - free; over > 0; over--) {
    let widest = -1;
    for (const [at, width] of widths.entries())
      if (width > (least[at] ?? 0) && width > (widths[widest] ?? 0)) widest = at;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

interface Placed {
  readonly text: string;
  readonly width: number;
  readonly toTheRight?: boolean;
}

/** One row: as many lines as its longest cell needs. */
function rowLines(cells: readonly Placed[]): string {
  const broken = cells.map(({ text, width }) => wrapped(text, width));
  const height = Math.max(...broken.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    cells
      .map(({ width, toTheRight = false }, at) => aligned(broken[at]?.[line] ?? '', width, toTheRight))
      .join(gap)
      .trimEnd(),
  ).join('\n');
}

function aligned(text: string, width: number, toTheRight: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return toTheRight ? space + text : text + space;
}

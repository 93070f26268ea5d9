/** A table for a terminal: aligned columns, a header, no lines. If it is too wide, long texts are truncated with "…", but never ids and times. */
import { styleText } from 'node:util';
import { printable } from './printable.ts';

export interface TableStyle {
  readonly colours: boolean;
  /** Columns of the terminal; absent: nothing is truncated. */
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
  /** Never truncated: a partial id identifies nothing, and a time without its hour says little. */
  readonly isWhole: boolean;
}

const gap = '  ';
const narrowest = 12;

/** Newlines become spaces, so that a row is a line. */
export function table(
  names: readonly string[],
  rows: readonly (readonly Cell[])[],
  { colours, width, exactHeads = false }: TableStyle,
): string {
  const columns = names.map((name, at) =>
    columnOf(
      exactHeads ? oneLine(name) : name.replaceAll('_', ' ').toUpperCase(),
      rows.map((row) => row[at] ?? ''),
      /(^|_)id$/.test(name),
    ),
  );
  const widths = fitted(columns, width);
  const line = (cellOf: (column: Column) => string): string =>
    columns
      .map((column, at) => aligned(cut(cellOf(column), widths[at] ?? 0), widths[at] ?? 0, column.toTheRight))
      .join(gap)
      .trimEnd();
  const head = line((column) => column.head);
  return [
    colours ? styleText('bold', head, { validateStream: false }) : head,
    ...rows.map((_, at) => line(({ cells }) => cells[at] ?? '')),
  ].join('\n');
}

/** The minimum width of a column with this exact head. */
export function leastWidth(name: string, cells: readonly Cell[]): number {
  const column = columnOf(oneLine(name), cells, /(^|_)id$/.test(name));
  const natural = naturalWidth(column);
  return column.isWhole ? natural : Math.min(natural, narrowest);
}

function columnOf(head: string, values: readonly Cell[], isId: boolean): Column {
  const cells = values.map((value) => (typeof value === 'object' ? value.digits : oneLine(String(value))));
  return {
    head,
    cells,
    toTheRight:
      values.some((value) => typeof value !== 'string') &&
      values.every((value) => typeof value !== 'string' || value === '-'),
    isWhole: isId || cells.some((cell) => /^\d{4}-\d{2}-\d{2}[T ]\d/.test(cell)),
  };
}

/** Safe to print, without line ends. */
export function oneLine(text: string): string {
  return printable(text).replaceAll(/\s+/g, ' ');
}

function naturalWidth({ head, cells }: Column): number {
  return cells.reduce((most, cell) => Math.max(most, widthOf(cell)), widthOf(head));
}

/** Column widths; the widest columns are narrowed until the table fits, as far as possible. */
function fitted(columns: readonly Column[], room: number | undefined): number[] {
  const widths = columns.map(naturalWidth);
  if (room === undefined) return widths;
  const free = room - gap.length * (columns.length - 1);
  for (let over = sum(widths) - free; over > 0; over--) {
    let widest = -1;
    for (const [at, column] of columns.entries())
      if (!column.isWhole && (widths[at] ?? 0) > Math.max(narrowest, widths[widest] ?? 0)) widest = at;
    if (widest === -1) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function aligned(text: string, width: number, toTheRight: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return toTheRight ? space + text : text + space;
}

/** The text in at most `width` columns, with "…" where it was truncated. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const character of text) {
    used += widthOf(character);
    if (used > width) break;
    kept += character;
  }
  return `${kept}…`;
}

const combining = /^[\p{M}\u200b-\u200d\ufeff]$/u;
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u;

/** The number of terminal columns that a text occupies. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += combining.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
}

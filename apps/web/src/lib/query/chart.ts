/** Which chart fits rows, unless one is chosen: time and numbers → lines; a name and a number → bars; one number → a big number; otherwise none. */
import type { Row } from './pipeline.ts';

export type Chart =
  | {
      readonly kind: 'lines';
      readonly x: readonly number[];
      readonly series: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
    }
  | {
      readonly kind: 'bars';
      readonly name: string;
      readonly bars: readonly { readonly label: string; readonly value: number }[];
    }
  | { readonly kind: 'number'; readonly name: string; readonly value: number }
  | { readonly kind: 'none'; readonly reason: string };

/** `auto`: the chart that fits the rows. `table` is not a chart. */
export type ChartChoice = 'auto' | 'lines' | 'bars' | 'number' | 'table';

const mostSeries = 8;
const mostBars = 40;
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

/** @param rows flattened rows */
export function chartOf(rows: readonly Row[], columns: readonly string[], choice: ChartChoice = 'auto'): Chart {
  if (rows.length === 0) return { kind: 'none', reason: 'There are no rows.' };
  const numbers = columns.filter((name) => some(rows, name, (value) => typeof value === 'number'));
  const [first] = numbers;
  if (first === undefined) return { kind: 'none', reason: 'No column has numbers. Select one, or group and count.' };
  if (choice === 'number' || (choice === 'auto' && rows.length === 1 && numbers.length === 1))
    return { kind: 'number', name: first, value: newest(rows, first, columns) };
  const time = timeOf(rows, columns);
  if (choice === 'lines' && time === undefined)
    return { kind: 'none', reason: 'Lines need a column with times, such as time_received.' };
  if (time !== undefined && choice !== 'bars') return linesOf(rows, time, numbers.slice(0, mostSeries));
  const label = columns.find((name) => some(rows, name, (value) => typeof value === 'string'));
  const bars = rows
    .slice(0, mostBars)
    .map((row, index) => ({
      label: label === undefined ? String(index + 1) : String(row[label] ?? ''),
      value: row[first],
    }))
    .filter((bar): bar is { label: string; value: number } => typeof bar.value === 'number');
  return { kind: 'bars', name: first, bars };
}

function timeOf(rows: readonly Row[], columns: readonly string[]): string | undefined {
  return columns.find((name) => some(rows, name, (value) => typeof value === 'string' && rfc3339.test(value)));
}

/** The number of the row with the latest time; without times, of the first row that has one. */
function newest(rows: readonly Row[], name: string, columns: readonly string[]): number {
  const numbered = rows.filter((row) => typeof row[name] === 'number');
  const time = timeOf(numbered, columns);
  const at = (row: Row): number => (time === undefined ? 0 : Date.parse(String(row[time])) || 0);
  return numbered.reduce((best, row) => (at(row) > at(best) ? row : best))[name] as number;
}

function linesOf(rows: readonly Row[], time: string, names: readonly string[]): Chart {
  const points = rows
    .map((row) => ({ row, ms: Date.parse(String(row[time])) }))
    .filter(({ ms }) => Number.isFinite(ms))
    .toSorted((a, b) => a.ms - b.ms);
  return {
    kind: 'lines',
    x: points.map(({ ms }) => ms / 1_000),
    series: names.map((name) => ({
      name,
      values: points.map(({ row }) => (typeof row[name] === 'number' ? (row[name] as number) : null)),
    })),
  };
}

function some(rows: readonly Row[], name: string, fits: (value: unknown) => boolean): boolean {
  return rows.some((row) => fits(row[name]));
}

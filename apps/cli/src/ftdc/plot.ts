/** A plot of one series for a terminal: a column of block characters for each interval, with the largest value and the times. */
import type { Point } from './series.ts';
import { rounded } from './series.ts';

const blocks = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

export interface PlotSize {
  /** Total number of columns. */
  readonly width: number;
  /** Lines of the plot itself. */
  readonly height: number;
}

/** Each column shows the largest value of its interval; where there are no samples it is empty. @param timeText how times are written */
export function plot(
  title: string,
  points: readonly Point[],
  { width, height }: PlotSize,
  timeText: (timeMs: number) => string,
): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return `${title}\n(no samples)`;
  const values = points.map(({ value }) => value);
  const largest = values.reduce((most, value) => Math.max(most, value));
  const least = Math.min(0, ...(values.length > 0 ? [values.reduce((low, value) => Math.min(low, value))] : []));
  const labels = [String(rounded(largest)), String(rounded(least))];
  const gutter = Math.max(...labels.map((label) => label.length));
  // Never more columns than points; otherwise most would be empty.
  const columns = Math.max(1, Math.min(width - gutter - 2, points.length));
  const heights = highest(points, columns, first.timeMs, last.timeMs).map((value) =>
    // The least value that was measured is still visible, as the lowest block.
    value === undefined ? undefined : 1 + Math.round(((value - least) / (largest - least || 1)) * (height * 8 - 1)),
  );
  const lines = Array.from({ length: height }, (_, row) => {
    const below = (height - 1 - row) * 8;
    const label = row === 0 ? labels[0] : row === height - 1 ? labels[1] : '';
    const drawn = heights.map((eighths) => blocks[Math.max(0, Math.min(8, (eighths ?? 0) - below))]);
    return `${(label ?? '').padStart(gutter)} ┤${drawn.join('')}`.trimEnd();
  });
  const [from, to] = [timeText(first.timeMs), timeText(last.timeMs)];
  const room = Math.max(1, columns - from.length - to.length);
  return [title, ...lines, `${' '.repeat(gutter + 2)}${from}${' '.repeat(room)}${to}`].join('\n');
}

/** The largest value of each of `columns` equal intervals. */
function highest(points: readonly Point[], columns: number, fromMs: number, toMs: number): (number | undefined)[] {
  const found = new Array<number | undefined>(columns).fill(undefined);
  for (const { timeMs, value } of points) {
    const at = Math.min(columns - 1, Math.floor(((timeMs - fromMs) / Math.max(1, toMs - fromMs)) * columns));
    found[at] = Math.max(found[at] ?? Number.NEGATIVE_INFINITY, value);
  }
  return found;
}

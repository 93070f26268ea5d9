/**
 * The rows of the log: each is as high as its text, so that nothing of it is cut, and only those in view are in the page. Heights are computed
 * from the number of characters, because the text has one width for each. Where that is wrong (wide characters), a row is higher, and the
 * scroll bar a little off.
 */
import type { RowWindow } from '../ui/window-of.ts';
import { type LogLine, textOf } from './log-lines.ts';

export const linePx = 18;
/** Above and below the text of a row, together. */
export const paddingPx = 6;
const stepPx = 240;

/** In how many lines a text is shown. @param columns characters of a line */
export function linesOfText(text: string, columns: number): number {
  const lines = (length: number): number => Math.max(1, Math.ceil(length / columns));
  if (!text.includes('\n')) return lines(text.length);
  return text.split('\n').reduce((sum, each) => sum + lines(each.length), 0);
}

/** The top of each row in px, and the end of the last one. @param least lines of a row, whose time may take two */
export function topsOf(lines: readonly LogLine[], columns: number, least = 1): Float64Array {
  const tops = new Float64Array(lines.length + 1);
  for (const [at, line] of lines.entries())
    tops[at + 1] = (tops[at] ?? 0) + Math.max(least, linesOfText(textOf(line), columns)) * linePx + paddingPx;
  return tops;
}

/** The rows in view, with some before and after. */
export function rowsInView(tops: Float64Array, scrollPx: number, viewPx: number): RowWindow {
  // In steps, so that most scroll events change nothing.
  const top = Math.floor(Math.max(0, scrollPx) / stepPx) * stepPx;
  const count = tops.length - 1;
  const first = Math.min(rowAt(tops, top - stepPx), Math.max(0, count - 1));
  const last = Math.min(count, rowAt(tops, top + viewPx + 2 * stepPx) + 1);
  return { first, last, beforePx: tops[first] ?? 0, afterPx: (tops[count] ?? 0) - (tops[last] ?? 0) };
}

/** The row that contains this place. */
function rowAt(tops: Float64Array, px: number): number {
  let [low, high] = [0, tops.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((tops[middle] ?? 0) <= px) low = middle;
    else high = middle - 1;
  }
  return low;
}

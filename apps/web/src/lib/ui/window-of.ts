/** Which rows of a long list are in view: others are not in the page, so that any number of rows scrolls smoothly. */
export interface RowWindow {
  /** Rows `first` to `last` (exclusive) are shown. */
  readonly first: number;
  readonly last: number;
  /** Heights in pixels of the rows before and after them. */
  readonly beforePx: number;
  readonly afterPx: number;
}

/** Rows above and below the view, for scrolling without blank edges. */
const marginRows = 10;

/** @param rowPx height of every row @param scrollPx from the start of the rows to the top of the view */
export function windowOf(given: {
  readonly count: number;
  readonly rowPx: number;
  readonly scrollPx: number;
  readonly viewPx: number;
}): RowWindow {
  const { count, rowPx, scrollPx, viewPx } = given;
  // In steps of the margin, so that most scroll events change nothing.
  const top = Math.floor(Math.max(0, scrollPx) / rowPx / marginRows) * marginRows;
  const first = Math.max(0, Math.min(top - marginRows, count - Math.ceil(viewPx / rowPx)));
  const last = Math.min(count, top + Math.ceil(viewPx / rowPx) + 2 * marginRows);
  return { first, last, beforePx: first * rowPx, afterPx: (count - last) * rowPx };
}

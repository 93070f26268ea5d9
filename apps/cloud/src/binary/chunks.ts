/** Rows of one statement: a statement holds some thousands of values, and a row here up to two dozen. */
const rowsAtOnce = 200;

export function* chunks<T>(rows: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < rows.length; at += rowsAtOnce) yield rows.slice(at, at + rowsAtOnce);
}

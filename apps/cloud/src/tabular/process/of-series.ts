/**
 * SQL for rows of some series, by their numbers. Never `IN` with a list: DuckDB makes a join of it, after which rows come in another
 * order than that of the file.
 */

/** So many stretches are compared one by one; more are looked up. */
const mostStretches = 8;

/** @param numbers rising, at least one. @param column in which a row's number stands. */
export function ofSeries(numbers: readonly number[], column = 'series'): string {
  const stretches: [from: number, to: number][] = [];
  for (const number of numbers) {
    const last = stretches.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else stretches.push([number, number]);
  }
  if (stretches.length <= mostStretches)
    return `(${stretches.map((stretch) => between(stretch, column)).join(' OR ')})`;
  const [first, last] = [numbers[0] as number, numbers.at(-1) as number];
  const held = new Set(numbers);
  const flags = Array.from({ length: last - first + 1 }, (_, at) => held.has(first + at));
  // The range can be held against the least and greatest of a row group, and keeps the look-up inside of its list.
  return `(${between([first, last], column)} AND list_extract([${flags.join(',')}], ${column} - ${first} + 1))`;
}

function between([from, to]: readonly [number, number], column: string): string {
  return from === to ? `${column} = ${from}` : `(${column} >= ${from} AND ${column} <= ${to})`;
}

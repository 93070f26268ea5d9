/**
 * SQL for rows of some series, by their numbers. It never uses `IN` with a list: DuckDB turns that into a join, which changes the order of
 * rows.
 */

/** Up to this many ranges are compared one by one; more are looked up. */
const mostStretches = 8;

/** @param numbers ascending, at least one @param column with a row's number */
export function seriesFilter(numbers: readonly number[], column = 'series'): string {
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
  const bits = Array.from({ length: last + 1 }, (_, number) => (held.has(number) ? '1' : '0')).join('');
  // The range allows row groups to be skipped by their least and greatest values. Without the CASE, a number outside the bits would be an
  // error even where the range does not match, as in NOT and OR. Twice as fast as a list of booleans and as least(), because DuckDB
  // evaluates each value of a dictionary once.
  const isHeld = `CASE WHEN ${between([first, last], column)} THEN get_bit('${bits}'::BIT, ${column}) = 1 ELSE false END`;
  return `(${between([first, last], column)} AND ${isHeld})`;
}

function between([from, to]: readonly [number, number], column: string): string {
  return from === to ? `${column} = ${from}` : `(${column} >= ${from} AND ${column} <= ${to})`;
}

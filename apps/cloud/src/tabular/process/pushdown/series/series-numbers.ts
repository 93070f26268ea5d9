/**
 * Splits files of a run by their numbering of series. Where the number of a series is sufficient, DuckDB groups by it alone, in half the
 * time of grouping by file and number. Files of whole days mostly have the same series.
 */
import type { Chosen } from '../steps.ts';

/**
 * A statement costs some milliseconds, and grouping by file some per million rows, so a file with fewer rows is not worth its own
 * statement.
 */
const fewestRows = 2_000_000;
const mostClasses = 4;

/**
 * Splits a run that groups by series into the largest classes with equal numbering, and all other files together. Groups are sorted when
 * merged, so their order does not matter here. Any other run is not split.
 */
export function bySeriesNumbers(run: readonly Chosen[]): readonly (readonly Chosen[])[] {
  const { kind, isOfNumber } = run[0]?.emission ?? {};
  if (kind !== 'group' || isOfNumber === undefined || run.length < 2) return [run];
  const classes: Chosen[][] = [];
  const others: Chosen[] = [];
  for (const chosen of [...run].sort((a, b) => rowsOf([b]) - rowsOf([a]))) {
    const alike = classes.find(([first]) => first !== undefined && isOfNumber([first.file, chosen.file]));
    if (alike !== undefined) alike.push(chosen);
    else if (classes.length < mostClasses) classes.push([chosen]);
    else others.push(chosen);
  }
  const worth = classes.filter((alike) => alike.length > 1 || rowsOf(alike) >= fewestRows);
  others.push(...classes.filter((alike) => !worth.includes(alike)).flat());
  return others.length === 0 ? worth : [...worth, others];
}

function rowsOf(run: readonly Chosen[]): number {
  return run.reduce((sum, { file }) => sum + file.facts.rows, 0);
}

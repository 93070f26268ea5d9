/**
 * Which files of a run number their series alike. Where the number of a series says all, DuckDB groups by it alone, which takes half as
 * long as by file and number; files of whole days mostly have the same series.
 */
import type { Chosen } from '../steps.ts';

/** A statement costs some milliseconds, grouping by the file some for each million rows: a file of fewer is not worth one of its own. */
const fewestRows = 2_000_000;
const mostClasses = 4;

/**
 * Splits a run that groups by series: the largest classes that number alike apart, all other files together. Groups are put in order when
 * they are merged, so that theirs here does not matter. Any other run stays one.
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

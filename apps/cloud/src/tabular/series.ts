/** A series is everything that stays the same from reading to reading: the path without the day, tags and parameters (D25). */

import { type SeriesColumn, seriesColumns } from '@platform/query';

export interface Series {
  /** component_type in the `core` vocabulary. */
  readonly path: Readonly<Record<SeriesColumn, string>>;
  readonly tags: readonly string[];
  /** BSON document. */
  readonly additionalParameters: Uint8Array;
}

/** Values that occur in a file, by column. */
export type PathSets = Readonly<Record<SeriesColumn, readonly string[]>>;

export function pathSetsOf(series: Iterable<Series>): PathSets {
  const sets = Object.fromEntries(seriesColumns.map((column) => [column, new Set<string>()])) as Record<
    SeriesColumn,
    Set<string>
  >;
  for (const { path } of series) for (const column of seriesColumns) sets[column].add(path[column]);
  return Object.fromEntries(seriesColumns.map((column) => [column, [...sets[column]].sort()])) as Record<
    SeriesColumn,
    string[]
  >;
}

/** A series is everything that stays the same from reading to reading: the path without the day, tags and parameters (D25). */

/** The seven constant segments of the path, in D25's order. */
export const pathColumns = [
  'organization_id',
  'location_id',
  'robot_id',
  'part_id',
  'component_type',
  'component_name',
  'method_name',
] as const;

export type PathColumn = (typeof pathColumns)[number];

export interface Series {
  /** component_type in the `core` vocabulary. */
  readonly path: Readonly<Record<PathColumn, string>>;
  readonly tags: readonly string[];
  /** BSON document. */
  readonly additionalParameters: Uint8Array;
}

/** Values that occur in a file, by column. */
export type PathSets = Readonly<Record<PathColumn, readonly string[]>>;

export function pathSetsOf(series: Iterable<Series>): PathSets {
  const sets = Object.fromEntries(pathColumns.map((column) => [column, new Set<string>()])) as Record<
    PathColumn,
    Set<string>
  >;
  for (const { path } of series) for (const column of pathColumns) sets[column].add(path[column]);
  return Object.fromEntries(pathColumns.map((column) => [column, [...sets[column]].sort()])) as Record<
    PathColumn,
    string[]
  >;
}

/** A series is everything that does not change from one reading to the next: the path without the day, tags and parameters (D25). */
import { type SeriesColumn, seriesColumns } from '@platform/query';

export interface Series {
  /** component_type in the `core` vocabulary. */
  readonly path: Readonly<Record<SeriesColumn, string>>;
  readonly tags: readonly string[];
  /** BSON document. */
  readonly additionalParameters: Uint8Array;
}

/** The path of an upload's readings, from the place of its part and the upload's metadata. */
export function seriesPathOf(
  place: Readonly<Record<'organizationId' | 'locationId' | 'robotId' | 'partId', string>>,
  metadata: Readonly<Record<'componentType' | 'componentName' | 'methodName', string>>,
): Series['path'] {
  return {
    organization_id: place.organizationId,
    location_id: place.locationId,
    robot_id: place.robotId,
    part_id: place.partId,
    component_type: metadata.componentType,
    component_name: metadata.componentName,
    method_name: metadata.methodName,
  };
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

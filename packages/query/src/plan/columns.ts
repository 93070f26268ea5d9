/** The columns of a `readings` row in their order (D25), shared by the SQL parser and the backends. */

/** The path segments that stay the same from reading to reading: all except the day. */
export const seriesColumns = [
  'organization_id',
  'location_id',
  'robot_id',
  'part_id',
  'component_type',
  'component_name',
  'method_name',
] as const;

/** The eight segments of the path under which readings are stored; filtering on the leftmost ones is cheapest. */
export const pathColumns: readonly [...typeof seriesColumns, 'capture_day'] = [...seriesColumns, 'capture_day'];

export const timeColumns = ['time_requested', 'time_received', 'time_synced'] as const;

export type SeriesColumn = (typeof seriesColumns)[number];
export type PathColumn = (typeof pathColumns)[number];
export type TimeColumn = (typeof timeColumns)[number];

export const readingColumns: readonly string[] = [
  ...pathColumns,
  ...timeColumns,
  'tags',
  'additional_parameters',
  'data',
];

export function isPathColumn(name: string): name is PathColumn {
  return (pathColumns as readonly string[]).includes(name);
}

export function isTimeColumn(name: string): name is TimeColumn {
  return (timeColumns as readonly string[]).includes(name);
}

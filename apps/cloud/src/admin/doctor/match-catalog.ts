/** Whether some files together contain what the catalog records for other files. */
import type { FileRow } from '../../tabular/integrity/row-checksum.ts';
import type { SealedFile } from '../../tabular/process/messages.ts';

export function matchesCatalog(files: readonly SealedFile[], rows: readonly FileRow[]): boolean {
  const listed = rows.map(
    (row): CatalogFile => ({
      organizationId: row.organization_id,
      captureDay: row.capture_day,
      rows: row.rows,
      logicalBytes: row.logical_bytes,
      minPosition: row.min_position,
      maxPosition: row.max_position,
      minTimeReceived: row.min_time_received,
      maxTimeReceived: row.max_time_received,
      minTimeRequested: row.min_time_requested,
      maxTimeRequested: row.max_time_requested,
      pathSets: JSON.parse(row.path_sets),
    }),
  );
  return files.length > 0 && together(files) === together(listed);
}

type CatalogFile = Omit<SealedFile, 'file' | 'fileBytes' | 'checksum' | 'format'>;

function together(files: readonly CatalogFile[]): string {
  const sum = (of: (file: CatalogFile) => number): number => files.reduce((total, file) => total + of(file), 0);
  // A row without the time makes the minimum null; the maximum is null only if no row has the time.
  const least = (times: readonly (number | null)[]): number | null =>
    times.includes(null) ? null : Math.min(...times.map(Number));
  const greatest = (times: readonly (number | null)[]): number | null => {
    const known = times.filter((time) => time !== null);
    return known.length === 0 ? null : Math.max(...known);
  };
  const paths = new Map<string, Set<string>>();
  for (const { pathSets } of files)
    for (const [column, values] of Object.entries(pathSets))
      paths.set(column, (paths.get(column) ?? new Set()).union(new Set(values)));
  return JSON.stringify([
    [...new Set(files.map(({ organizationId, captureDay }) => `${organizationId} ${captureDay}`))],
    sum(({ rows }) => rows),
    sum(({ logicalBytes }) => logicalBytes),
    Math.min(...files.map(({ minPosition }) => minPosition)),
    Math.max(...files.map(({ maxPosition }) => maxPosition)),
    least(files.map(({ minTimeReceived }) => minTimeReceived)),
    greatest(files.map(({ maxTimeReceived }) => maxTimeReceived)),
    least(files.map(({ minTimeRequested }) => minTimeRequested)),
    greatest(files.map(({ maxTimeRequested }) => maxTimeRequested)),
    [...paths].map(([column, values]) => `${column} ${JSON.stringify([...values].toSorted())}`).toSorted(),
  ]);
}

/** Whether some files together contain what the catalog records for other files. */
import { fileRowOf } from '../../tabular/catalog/file-row.ts';
import type { CheckedFile } from '../../tabular/integrity/row-checksum.ts';
import type { SealedFile } from '../../tabular/process/messages.ts';

export function matchesCatalog(files: readonly SealedFile[], rows: readonly CheckedFile[]): boolean {
  return files.length > 0 && together(files.map((file) => fileRowOf(file, 0))) === together(rows);
}

function together(files: readonly CheckedFile[]): string {
  const sum = (of: (file: CheckedFile) => number): number => files.reduce((total, file) => total + of(file), 0);
  // A row without the time makes the minimum null; the maximum is null only if no row has the time.
  const least = (times: readonly (number | null)[]): number | null =>
    times.includes(null) ? null : Math.min(...times.map(Number));
  const greatest = (times: readonly (number | null)[]): number | null => {
    const known = times.filter((time) => time !== null);
    return known.length === 0 ? null : Math.max(...known);
  };
  const paths = new Map<string, Set<string>>();
  for (const { path_sets } of files)
    for (const [column, values] of Object.entries<string[]>(JSON.parse(path_sets)))
      paths.set(column, (paths.get(column) ?? new Set()).union(new Set(values)));
  return JSON.stringify([
    [...new Set(files.map((file) => `${file.organization_id} ${file.capture_day}`))],
    sum(({ rows }) => rows),
    sum(({ logical_bytes }) => logical_bytes),
    Math.min(...files.map(({ min_position }) => min_position)),
    Math.max(...files.map(({ max_position }) => max_position)),
    least(files.map(({ min_time_received }) => min_time_received)),
    greatest(files.map(({ max_time_received }) => max_time_received)),
    least(files.map(({ min_time_requested }) => min_time_requested)),
    greatest(files.map(({ max_time_requested }) => max_time_requested)),
    [...paths].map(([column, values]) => `${column} ${JSON.stringify([...values].toSorted())}`).toSorted(),
  ]);
}

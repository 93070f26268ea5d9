/** The files that belong to the data, with the sizes and checksums recorded in the databases. */
import type { NamedFile } from './copy/copied-stores.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * @param listed rows of `tabular_files`
 * @param blobs rows of the log's `blobs`
 * @param stored rows of `binary_data`
 * @param packages rows of `packages`
 */
export function namedFiles(
  listed: readonly Row[],
  blobs: readonly Row[],
  stored: readonly Row[],
  packages: readonly Row[],
): NamedFile[] {
  const payloads = new Map(stored.map((row) => [row['blob_path'], row]));
  const contents = (bytes: unknown, sha256: unknown): Omit<NamedFile, 'path'> => ({
    bytes: typeof bytes === 'number' ? bytes : null,
    sha256: typeof sha256 === 'string' ? sha256 : null,
  });
  return [
    ...listed.map((row) => ({ path: `parquet/${row['file']}`, ...contents(row['file_bytes'], row['sha256']) })),
    ...blobs.map(({ path }) => {
      const row = payloads.get(path);
      return { path: `blobs/${path}`, ...contents(row?.['size_bytes'], row?.['sha256']) };
    }),
    ...packages.map((row) => ({ path: `blobs/${row['blob_path']}`, ...contents(row['size_bytes'], row['sha256']) })),
  ];
}

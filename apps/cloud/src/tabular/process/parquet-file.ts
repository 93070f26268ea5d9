/**
 * The layout of a sealed file (format 1). Immutable; one organization and one capture day; sorted by part, type, component, method and
 * time; series columns are plain, so that any Parquet reader understands a file without us.
 *
 * `series` numbers the file's series in sort order; the footer's metadata `platform.series` holds them as JSON, so that a query need not
 * read the text columns. Times are microseconds since 1970 UTC, null where the sender left one out.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Series } from '../series.ts';
import { quoted } from './database.ts';

export const parquetFormat = 1;

const metadataKey = 'platform.series';

export function seriesMetadata(series: readonly Series[]): string {
  const json = series.map(({ path, tags, additionalParameters }) => ({
    path,
    tags,
    additionalParameters: Buffer.from(additionalParameters).toString('base64'),
  }));
  return `{${quoted(metadataKey)}: ${quoted(JSON.stringify(json))}}`;
}

/** The series of a file by their numbers. */
export async function readSeries(connection: DuckDBConnection, path: string): Promise<Series[]> {
  const result = await connection.runAndReadAll(
    'SELECT decode(value) FROM parquet_kv_metadata($1) WHERE decode(key) = $2',
    [path, metadataKey],
  );
  const [row] = result.getRows();
  if (row === undefined)
    throw new Error(`expected ${metadataKey} in the metadata of ${path}, found none: not a file of ours`);
  const json = JSON.parse(String(row[0])) as { path: Series['path']; tags: string[]; additionalParameters: string }[];
  return json.map(({ path: columns, tags, additionalParameters }) => ({
    path: columns,
    tags,
    additionalParameters: new Uint8Array(Buffer.from(additionalParameters, 'base64')),
  }));
}
